import type { EventStore } from '../../runs/event-store.ts';
import { eventOf } from '../sql/event-row.ts';
import type { Database } from './database.ts';

const INSERT = {
  name: 'events-insert',
  text: `INSERT INTO events
    (run_id, sequence, event_id, type, timestamp, payload, schema_version, engine_version, node_id, causation_id)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
};
const LIST = {
  name: 'events-list',
  text: `SELECT * FROM (
      SELECT *, sum(octet_length(payload)) OVER (ORDER BY sequence) - octet_length(payload) AS bytes_before
      FROM (SELECT * FROM events WHERE run_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3) AS page
    ) AS measured WHERE bytes_before < $4 ORDER BY sequence`,
};

export function eventStore(database: Database): EventStore {
  return {
    async insert(event, transaction) {
      const { runId, sequence, eventId, type, timestamp, schemaVersion, engineVersion } = event;
      const { nodeId = null, causationId = null } = event;
      const payload = JSON.stringify(event.payload);
      const values = [runId, sequence, eventId, type, timestamp, payload, schemaVersion, engineVersion];
      await database.within(transaction, INSERT, [...values, nodeId, causationId]);
    },
    async list(run, { after, limit, maxBytes = Number.MAX_SAFE_INTEGER }) {
      return (await database.query(LIST, [run.runId, after, limit, maxBytes])).rows.map(eventOf);
    },
  };
}
