import type { EventStore, RunEvent } from '../../ports/events.ts';
import type { Journal } from './journal.ts';

export function eventStore(journal: Journal): EventStore {
  const logs = new Map<string, RunEvent[]>();

  return {
    async insert(events, transaction) {
      for (const event of events) {
        const log = logs.get(event.runId) ?? [];
        if ((log.at(-1)?.sequence ?? -1) >= event.sequence)
          throw new Error(`Run ${event.runId}: its log already has an event with sequence ${event.sequence}.`);
        logs.set(event.runId, log);
        log.push(event);
        journal.record(transaction, () => log.pop());
      }
    },
    async list(run, { after, limit, maxBytes }) {
      const log = logs.get(run.runId) ?? [];
      const from = firstAfter(log, after);
      const page = log.slice(from, from + limit);
      return maxBytes === undefined ? page : page.slice(0, countWithin(page, maxBytes));
    },
  };
}

/** Returns the index in a sorted log of the first event after a sequence. */
function firstAfter(log: readonly RunEvent[], after: number): number {
  let low = 0;
  let high = log.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((log[middle]?.sequence ?? 0) > after) high = middle;
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
