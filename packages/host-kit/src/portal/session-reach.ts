import { eventName } from '@svc/versioning/events';
import type { PortalSession } from '../ports/portal-sessions.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import type { SubscribableEvents } from '../webhooks/subscribable.ts';

/** The part of the webhooks of its tenant that a session reaches, beside the limits of its workspaces. */
export interface SessionReach {
  /** Every spelling of the event types; undefined when the session reaches every type. */
  readonly names: readonly string[] | undefined;
  /** Returns whether an event of this name is reached. The name may be that of either major. */
  readonly reachesEvent: (name: string) => boolean;
  /** Returns whether a subscription is reached: one that receives no event type beyond those of the session. */
  readonly reachesSubscription: (subscription: Pick<Subscription, 'events' | 'push'>) => boolean;
}

/** Computes the reach of a session. Pushes of runs belong to other surfaces of the host, and are never reached. */
export function sessionReach({ eventTypes }: Pick<PortalSession, 'eventTypes'>): SessionReach {
  if (eventTypes === 'all') {
    return { names: undefined, reachesEvent: () => true, reachesSubscription: ({ push }) => push === undefined };
  }
  const types = new Set(eventTypes);
  const names = new Set(eventTypes.flatMap((type) => [type, eventName(1, type), eventName(2, type)]));
  return {
    names: [...names],
    reachesEvent: (name) => names.has(name),
    reachesSubscription: ({ events, push }) => push === undefined && events.every((type) => types.has(type)),
  };
}

/** Limits the event types that a subscription can be given to those of a session. */
export function subscribableWithin(
  subscribable: SubscribableEvents,
  { reachesEvent }: Pick<SessionReach, 'reachesEvent'>,
): SubscribableEvents {
  return {
    vendorTypes: subscribable.vendorTypes.filter(reachesEvent),
    named(major, name) {
      // First, so that the answer to a type of others does not depend on the host.
      if (!reachesEvent(name)) return { problem: `"${name.slice(0, 128)}" is not an event type of this session` };
      return subscribable.named(major, name);
    },
  };
}
