import { ABSENT } from '../lookup.ts';
import { ATTEMPTS_KEPT } from '../ports/attempts.ts';
import type { Store } from '../ports/store.ts';
import type { WebhookJob } from '../ports/webhook-jobs.ts';
import type { SessionReach } from './session-reach.ts';

/**
 * Returns a view of a store that has no webhook beyond the reach of a session, and no delivery, attempt or job of another
 * event type. An operation that reads through it cannot tell such a record from one that does not exist. Writes go
 * through unchanged: an operation finds the subscription first.
 */
export function reachedStore(store: Store, reach: SessionReach): Store {
  const { subscriptions, deliveries, attempts, webhookJobs } = store;
  const { names, reachesEvent, reachesSubscription } = reach;
  return {
    ...store,
    subscriptions: limited(subscriptions, {
      async find(tenancy, webhookId) {
        const found = await subscriptions.find(tenancy, webhookId);
        return found.kind === 'found' && reachesSubscription(found.value) ? found : ABSENT;
      },
      list: (tenancy, { after, limit }) =>
        filled(limit, after, {
          read: (from) => subscriptions.list(tenancy, { after: from, limit: READ_AT_ONCE }),
          isWanted: reachesSubscription,
          placeOf: ({ webhookId }) => webhookId,
        }),
    }),
    deliveries: limited(deliveries, {
      queued: async (webhookId, ids, now) =>
        (await deliveries.queued(webhookId, ids, now)).filter(({ eventType }) => reachesEvent(eventType)),
      countDeadLetters: (webhookId, counting) => {
        const { eventTypes } = counting.selection;
        const asked = eventTypes === undefined ? names : eventTypes.filter(reachesEvent);
        return deliveries.countDeadLetters(webhookId, {
          ...counting,
          selection: { ...counting.selection, eventTypes: asked },
        });
      },
    }),
    attempts: limited(attempts, {
      list: async (webhookId, limit) =>
        (await attempts.list(webhookId, ATTEMPTS_KEPT))
          .filter(({ eventType }) => reachesEvent(eventType))
          .slice(0, limit),
    }),
    webhookJobs: limited(webhookJobs, {
      async read(webhookId, jobId) {
        const job = await webhookJobs.read(webhookId, jobId);
        return job !== undefined && isReached(job) ? job : undefined;
      },
      list: (webhookId, { before, limit }) =>
        filled(limit, before, {
          read: (from) => webhookJobs.list(webhookId, { before: from, limit: READ_AT_ONCE }),
          isWanted: isReached,
          placeOf: ({ jobId }) => jobId,
        }),
    }),
  };

  /** A job without a list of types is about every type. */
  function isReached({ request: { types } }: WebhookJob): boolean {
    if (names === undefined) return true;
    return Array.isArray(types) && types.every((type) => reachesEvent(String(type)));
  }
}

const READ_AT_ONCE = 200;

/** A page of the records that are wanted. It reads on until the page is full or the list has ended. */
async function filled<Place, Row>(
  limit: number,
  start: Place,
  list: {
    readonly read: (from: Place) => Promise<readonly Row[]>;
    readonly isWanted: (row: Row) => boolean;
    readonly placeOf: (row: Row) => Place;
  },
): Promise<readonly Row[]> {
  const found: Row[] = [];
  for (let from = start; ; ) {
    const rows = await list.read(from);
    found.push(...rows.filter(list.isWanted));
    const last = rows.at(-1);
    if (found.length >= limit || rows.length < READ_AT_ONCE || last === undefined) return found.slice(0, limit);
    from = list.placeOf(last);
  }
}

/** Replaces methods of a part of a store, which may be an instance of a class. */
function limited<Part extends object>(part: Part, methods: Partial<Part>): Part {
  return new Proxy(part, {
    get(target, name) {
      if (Object.hasOwn(methods, name)) return Reflect.get(methods, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
