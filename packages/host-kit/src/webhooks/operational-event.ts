import type { JsonObject } from '../json.ts';
import type { Subscription } from '../ports/subscriptions.ts';

/** The names of the events about subscriptions. A host puts its organization and a dot in front. */
const OPERATIONAL_EVENTS = [
  /** Several attempts in a row have failed. */
  'subscription.failing',
  /** Nothing is attempted any more. */
  'subscription.failed',
  /** An attempt has succeeded again, after one of the other events. */
  'subscription.recovered',
  /** The first delivery of an outage became a dead letter. */
  'subscription.dead-lettering',
  /** The signing secret was replaced. */
  'subscription.secret-rotated',
] as const;

export type OperationalEventName = (typeof OPERATIONAL_EVENTS)[number];

/** An event about a subscription, for its owner. It belongs to no run. */
export interface OperationalEvent {
  readonly eventId: string;
  /** The name with the organization in front. */
  readonly type: string;
  /** An id in the form of run ids, the same for all events about the subscription. There is no such run. */
  readonly runId: string;
  /** The number of the event among those about the subscription. */
  readonly sequence: number;
  /** In ms since the epoch. */
  readonly timestamp: number;
  /** The subscription that the event is about. */
  readonly subject: Subscription;
  /** The payload, without the id of the subscription. */
  readonly details: JsonObject;
}

/** Returns the types of the events about subscriptions that a host of this organization sends. */
export function operationalEventTypes(org: string): readonly string[] {
  return OPERATIONAL_EVENTS.map((name) => `${org}.${name}`);
}

/** Returns whether deliveries of an event type are about a subscription. */
export function isOperationalEvent(eventType: string): boolean {
  const dot = eventType.indexOf('.');
  return dot !== -1 && NAMES.has(eventType.slice(dot + 1));
}

const NAMES: ReadonlySet<string> = new Set(OPERATIONAL_EVENTS);
