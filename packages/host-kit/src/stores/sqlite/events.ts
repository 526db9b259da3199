import type { DatabaseSync } from 'node:sqlite';
import type { EventStore, RunEvent } from '../../ports/events.ts';
import { eventOf } from '../sql/events.ts';
import { text } from '../sql/row.ts';
import type { Writer } from './writer.ts';

const INSERT = `INSERT INTO events
  (run_id, sequence, event_id, type, timestamp, payload, schema_version, engine_version, node_id, causation_id)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const LIST = 'SELECT * FROM events WHERE run_id = ? AND sequence > ? ORDER BY sequence LIMIT ?';

export function eventStore(reader: DatabaseSync, database: DatabaseSync, writer: Writer): EventStore {
  const insert = database.prepare(INSERT);
  const list = reader.prepare(LIST);

  return {
    async insert(events, transaction) {
      writer.require(transaction);
      for (const event of events) {
        insert.run(
          event.runId,
          event.sequence,
          event.eventId,
          event.type,
          event.timestamp,
          JSON.stringify(event.payload),
          event.schemaVersion,
          event.engineVersion,
          event.nodeId ?? null,
          event.causationId ?? null,
        );
      }
    },
    async list(run, { after, limit, maxBytes = Number.POSITIVE_INFINITY }) {
      const page: RunEvent[] = [];
      let bytes = 0;
      for (const row of list.iterate(run.runId, after, limit)) {
        page.push(eventOf(row));
        bytes += Buffer.byteLength(text(row, 'payload'));
        if (bytes >= maxBytes) break;
      }
      return page;
    },
  };
}
