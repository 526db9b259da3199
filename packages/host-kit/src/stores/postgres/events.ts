import { BEFORE_ALL_EVENTS, type EventPosition, type EventStore, type PositionedEvent } from '../../ports/events.ts';
import { eventOf } from '../sql/events.ts';
import { integer, type Row } from '../sql/row.ts';
import type { Database, Statement } from './database.ts';

const INSERT = {
  name: 'events-insert',
  // A transaction that began earlier may have waited for the run: its events still come after those of the run. No reader
  // has looked that far, because it is open.
  text: `INSERT INTO events
    (run_id, sequence, event_id, type, timestamp, payload, schema_version, engine_version, node_id, causation_id,
      commit_order)
    SELECT added.*, greatest(
      pg_current_xact_id()::text::bigint + (SELECT xid_offset FROM event_order),
      (SELECT commit_order FROM events WHERE events.run_id = added.run_id ORDER BY sequence DESC LIMIT 1))
    FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::integer[], $8::integer[],
      $9::text[], $10::text[]) AS added (run_id)`,
};
const LIST = {
  name: 'events-list',
  text: `SELECT * FROM (
      SELECT *, sum(octet_length(payload)) OVER (ORDER BY sequence) - octet_length(payload) AS bytes_before
      FROM (SELECT * FROM events WHERE run_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3) AS page
    ) AS measured WHERE bytes_before < $4 ORDER BY sequence`,
};
/**
 * The transactions that are over, in `commit_order`. The commit of an open transaction is not awaited: its events are
 * read later, because all events that are read before have a lower `commit_order` than the oldest open transaction.
 */
const IS_SETTLED = `commit_order < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
  + (SELECT xid_offset FROM event_order)`;
/** The query of `listAll`. */
export const LIST_ALL: Statement = {
  name: 'events-list-all',
  // The last event of the page is always a row, so that a reader gets past events that it does not reach.
  text: `WITH page AS MATERIALIZED (
      SELECT * FROM events WHERE (commit_order, commit_index) > ($1::bigint, $2::bigint) AND ${IS_SETTLED}
      ORDER BY commit_order, commit_index LIMIT $3
    ), judged AS (
      SELECT page.*, reached.run_id IS NOT NULL AND ($8::text[] IS NULL OR type = ANY ($8)) AS is_shown
      FROM page LEFT JOIN runs AS reached ON reached.run_id = page.run_id AND reached.tenant = $4 AND reached.mode = $5
        AND ($6::text[] IS NULL OR reached.workspace = ANY ($6))
    ), measured AS (
      SELECT *, coalesce(sum(octet_length(payload)) FILTER (WHERE is_shown) OVER (
        ORDER BY commit_order, commit_index ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
      FROM judged
    ), taken AS (
      SELECT *, lead(sequence) OVER (ORDER BY commit_order, commit_index) IS NULL AS is_last
      FROM measured WHERE bytes_before < $7
    )
    SELECT * FROM taken WHERE is_shown OR is_last ORDER BY commit_order, commit_index`,
};
/** The query of `newest`. */
export const NEWEST: Statement = {
  name: 'events-newest',
  text: `SELECT commit_order, commit_index FROM events WHERE ${IS_SETTLED}
    ORDER BY commit_order DESC, commit_index DESC LIMIT 1`,
};

/** The newest event of the removed runs. */
const REMOVED = {
  name: 'events-removed',
  text: 'SELECT commit_order, commit_index FROM removed_positions ORDER BY commit_order DESC, commit_index DESC LIMIT 1',
};
const REMOVED_OF = {
  name: 'events-removed-of',
  text: 'SELECT commit_order, commit_index FROM removed_positions WHERE tenant = $1 AND mode = $2',
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
    async listAll({ tenant, mode, workspaces }, { after, limit, types, maxBytes = Number.MAX_SAFE_INTEGER }) {
      const { rows } = await database.query(LIST_ALL, [
        ...[after.order, after.index, limit, tenant, mode, workspaces === 'all' ? null : [...workspaces], maxBytes],
        types === undefined ? null : [...types],
      ]);
      const shown = rows.filter(({ is_shown }) => is_shown === true);
      return { events: shown.map(positioned), last: positionOf(rows.at(-1)) ?? after };
    },
    async newest() {
      // Removed events first: those of a run that is removed between the two queries are then found by the second.
      const removed = positionOf((await database.query(REMOVED, [])).rows[0]) ?? BEFORE_ALL_EVENTS;
      const stored = positionOf((await database.query(NEWEST, [])).rows[0]) ?? BEFORE_ALL_EVENTS;
      const isLater = stored.order === removed.order ? stored.index > removed.index : stored.order > removed.order;
      return isLater ? stored : removed;
    },
    async removedUpTo({ tenant, mode }) {
      return positionOf((await database.query(REMOVED_OF, [tenant, mode])).rows[0]) ?? BEFORE_ALL_EVENTS;
    },
  };
}

function positioned(row: Row): PositionedEvent {
  return { position: positionIn(row), event: eventOf(row) };
}

function positionOf(row: Row | undefined): EventPosition | undefined {
  return row && positionIn(row);
}

function positionIn(row: Row): EventPosition {
  return { order: integer(row, 'commit_order'), index: integer(row, 'commit_index') };
}
