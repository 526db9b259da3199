import type { JsonObject } from '../json.ts';
import type { Subscription } from '../ports/subscriptions.ts';

/** A sentence about each event about a subscription, by its name. A host puts its organization and a dot in front. */
const OPERATIONAL_EVENTS = {
  'subscription.failing': 'Several attempts in a row at a subscription have failed.',
  'subscription.failed': 'A subscription failed. Nothing is attempted any more.',
  'subscription.recovered': 'An attempt at a subscription has succeeded again.',
  'subscription.dead-lettering': 'The first delivery of an outage became a dead letter.',
  'subscription.secret-rotated': 'The signing secret of a subscription was replaced.',
} as const;

export type OperationalEventName = keyof typeof OPERATIONAL_EVENTS;

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
  return [...TEXTS.keys()].map((name) => `${org}.${name}`);
}

/** Returns whether deliveries of an event type are about a subscription. */
export function isOperationalEvent(eventType: string): boolean {
  return operationalEventText(eventType) !== undefined;
}

/** Returns a sentence about an event about a subscription; undefined for any other type. */
export function operationalEventText(eventType: string): string | undefined {
  const dot = eventType.indexOf('.');
  return dot === -1 ? undefined : TEXTS.get(eventType.slice(dot + 1));
}

const TEXTS: ReadonlyMap<string, string> = new Map(Object.entries(OPERATIONAL_EVENTS));
