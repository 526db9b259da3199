import type { EventStore, RunEvent } from '../../runs/event-store.ts';
import type { Journal } from './journal.ts';

export function eventStore(journal: Journal): EventStore {
  const logs = new Map<string, RunEvent[]>();

  return {
    async insert(event, transaction) {
      const log = logs.get(event.runId) ?? [];
      if ((log.at(-1)?.sequence ?? -1) >= event.sequence) throw new Error('The log has an event at this sequence.');
      logs.set(event.runId, log);
      log.push(event);
      journal.record(transaction, () => log.pop());
    },
    async list(run, { after, limit }) {
      return (logs.get(run.runId) ?? []).filter(({ sequence }) => sequence > after).slice(0, limit);
    },
  };
}
