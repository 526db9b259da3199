import type { EventStore } from '../../ports/events.ts';
import { eventOf } from '../sql/events.ts';
import type { Database } from './database.ts';

const INSERT = {
  name: 'events-insert',
  text: `INSERT INTO events
    (run_id, sequence, event_id, type, timestamp, payload, schema_version, engine_version, node_id, causation_id)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::integer[], $8::integer[],
      $9::text[], $10::text[])`,
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
    async insert(events, transaction) {
      await database.within(transaction, INSERT, [
        events.map(({ runId }) => runId),
        events.map(({ sequence }) => sequence),
        events.map(({ eventId }) => eventId),
        events.map(({ type }) => type),
        events.map(({ timestamp }) => timestamp),
        events.map(({ payload }) => JSON.stringify(payload)),
        events.map(({ schemaVersion }) => schemaVersion),
        events.map(({ engineVersion }) => engineVersion),
        events.map(({ nodeId }) => nodeId ?? null),
        events.map(({ causationId }) => causationId ?? null),
      ]);
    },
    async list(run, { after, limit, maxBytes = Number.MAX_SAFE_INTEGER }) {
      return (await database.query(LIST, [run.runId, after, limit, maxBytes])).rows.map(eventOf);
    },
  };
}
