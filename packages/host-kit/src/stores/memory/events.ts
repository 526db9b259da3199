import type { Tenancy } from '@svc/auth';
import {
  BEFORE_ALL_EVENTS,
  type EventPosition,
  type EventStore,
  type PositionedEvent,
  type RunEvent,
} from '../../ports/events.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { type Journal, put } from './journal.ts';
import type { RecordsOfRuns } from './records-of-runs.ts';

/** @param reaches whether a caller reaches a run */
export function eventStore(
  journal: Journal,
  reaches: (tenancy: Tenancy, runId: string) => boolean,
): EventStore & RecordsOfRuns {
  const logs = new Map<string, RunEvent[]>();
  /** The events of all runs. The events of the open transaction are the last ones. */
  let all: PositionedEvent[] = [];
  /** The newest positions of removed runs, by tenant and mode. */
  const removed = new Map<string, EventPosition>();
  /** The last transaction that inserted events, and the number of events before it. */
  let latest: { readonly transaction: Transaction; readonly before: number } | undefined;
  /** Rises even when a transaction is undone, so that no position is used twice. */
  let order = 0;

  function committed(): number {
    return latest !== undefined && journal.isOpen(latest.transaction) ? latest.before : all.length;
  }

  return {
    async insert(events, transaction) {
      for (const event of events) {
        const log = logs.get(event.runId) ?? [];
        if ((log.at(-1)?.sequence ?? -1) >= event.sequence)
          throw new Error(`Run ${event.runId}: its log already has an event with sequence ${event.sequence}.`);
        journal.record(transaction, () => {
          log.pop();
          all.pop();
        });
        if (latest?.transaction !== transaction) latest = { transaction, before: all.length };
        logs.set(event.runId, log);
        log.push(event);
        all.push({ position: { order: ++order, index: 0 }, event });
      }
    },
    async list(run, { after, limit, maxBytes }) {
      const log = logs.get(run.runId) ?? [];
      const from = firstIndex(log, ({ sequence }) => sequence > after);
      const page = log.slice(from, from + limit);
      return maxBytes === undefined ? page : page.slice(0, countWithin(page, maxBytes));
    },
    async listAll(tenancy, { after, limit, types, maxBytes = Number.POSITIVE_INFINITY }) {
      const from = firstIndex(all, ({ position }) => position.order > after.order);
      const events: PositionedEvent[] = [];
      let last = after;
      let bytes = 0;
      for (const positioned of all.slice(from, Math.min(from + limit, committed()))) {
        last = positioned.position;
        const { type, runId, payload } = positioned.event;
        if (types?.includes(type) === false || !reaches(tenancy, runId)) continue;
        events.push(positioned);
        bytes += Buffer.byteLength(JSON.stringify(payload));
        if (bytes >= maxBytes) break;
      }
      return { events, last };
    },
    async newest() {
      const positions = [...removed.values(), all[committed() - 1]?.position ?? BEFORE_ALL_EVENTS];
      return positions.reduce((newest, position) => (position.order > newest.order ? position : newest));
    },
    removedUpTo: async (tenancy) => removed.get(placeOf(tenancy)) ?? BEFORE_ALL_EVENTS,
    drop(run, transaction) {
      const before = all;
      journal.record(transaction, () => {
        all = before;
      });
      all = before.filter(({ event }) => event.runId !== run.runId);
      put(journal, transaction, logs, run.runId, undefined);
      const newest = before.findLast(({ event }) => event.runId === run.runId)?.position;
      const known = removed.get(placeOf(run)) ?? BEFORE_ALL_EVENTS;
      if (newest !== undefined && newest.order > known.order) put(journal, transaction, removed, placeOf(run), newest);
    },
  };
}

function placeOf({ tenant, mode }: Pick<Tenancy, 'tenant' | 'mode'>): string {
  return JSON.stringify([tenant, mode]);
}

/** Returns the index of the first entry that is past a place in a sorted list. */
function firstIndex<T>(list: readonly T[], isPast: (entry: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = list[middle];
    if (entry === undefined || isPast(entry)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function countWithin(page: readonly RunEvent[], maxBytes: number): number {
  let bytes = 0;
  for (const [index, { payload }] of page.entries()) {
    bytes += Buffer.byteLength(JSON.stringify(payload));
    if (bytes >= maxBytes) return index + 1;
  }
  return page.length;
}
