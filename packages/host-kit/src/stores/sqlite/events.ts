import type { DatabaseSync } from 'node:sqlite';
import { BEFORE_ALL_EVENTS, type EventStore, type PositionedEvent, type RunEvent } from '../../ports/events.ts';
import { eventOf } from '../sql/events.ts';
import { integer, type Row, text } from '../sql/row.ts';
import type { EventColumns } from './journal-rows.ts';
import type { WriteJournal } from './write-journal.ts';
import type { Writer } from './writer.ts';

const INSERT = `INSERT INTO events
  (run_id, sequence, event_id, type, timestamp, payload, schema_version, engine_version, node_id, causation_id, position)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const STORED = 'SELECT 1 FROM events WHERE run_id = ? AND sequence = ?';
const LIST = 'SELECT * FROM events WHERE run_id = ? AND sequence > ? ORDER BY sequence LIMIT ?';
const LIST_ALL = `SELECT events.*, reached.run_id IS NOT NULL AS is_reached FROM events
  LEFT JOIN runs AS reached ON reached.run_id = events.run_id AND reached.tenant = ? AND reached.mode = ?
    AND (? OR reached.workspace IN (SELECT value FROM json_each(?)))
  WHERE position > ? ORDER BY position LIMIT ?`;
const NEWEST = `SELECT max(coalesce((SELECT max(position) FROM events WHERE position IS NOT NULL), 0),
  coalesce((SELECT max(position) FROM removed_positions), 0)) AS position`;
const REACHED = `SELECT 1 FROM runs WHERE run_id = ? AND tenant = ? AND mode = ?
  AND (? OR workspace IN (SELECT value FROM json_each(?)))`;
const REMOVED = 'SELECT position FROM removed_positions WHERE tenant = ? AND mode = ?';

/** Appended events are in the journal first, and longer ones at once in the table. */
export function eventStore(
  reader: DatabaseSync,
  database: DatabaseSync,
  writer: Writer,
  journal: WriteJournal,
): EventStore {
  const insert = database.prepare(INSERT);
  const stored = database.prepare(STORED);
  const reached = reader.prepare(REACHED);
  const list = reader.prepare(LIST);
  const listAll = reader.prepare(LIST_ALL);
  const newest = reader.prepare(NEWEST);
  const removed = reader.prepare(REMOVED);
  // One process writes the file, in one transaction after the other, so the order of positions is that of the commits.
  // A transaction that is undone leaves a gap.
  let position = newestPosition();

  function newestPosition(): number {
    return journal.committed.events.at(-1)?.[10] ?? Number(newest.get()?.position ?? 0);
  }

  return {
    async insert(events, transaction) {
      writer.require(transaction);
      const columns = events.map((event) => columnsOf(event, ++position));
      if (columns.reduce((sum, [, , , , , payload]) => sum + payload.length, 0) > MOST_IN_JOURNAL) {
        journal.apply(transaction);
        for (const event of columns) insert.run(...event);
      } else if (columns.length > 0) {
        requireNew(columns);
        journal.add({ kind: 'events', events: columns }, transaction);
      }
    },
    async list(run, { after, limit, maxBytes = Number.POSITIVE_INFINITY }) {
      const page: RunEvent[] = [];
      let bytes = 0;
      const newer = journal.committed.eventsOf(run.runId);
      for (const row of rowsOf(run.runId, { after, limit, newer })) {
        page.push(eventOf(row));
        bytes += Buffer.byteLength(text(row, 'payload'));
        if (bytes >= maxBytes || page.length >= limit) break;
      }
      return page;
    },
    async listAll({ tenant, mode, workspaces }, { after, limit, types, maxBytes = Number.POSITIVE_INFINITY }) {
      const reach = workspaces === 'all' ? ([1, '[]'] as const) : ([0, JSON.stringify(workspaces)] as const);
      const events: PositionedEvent[] = [];
      let last = after;
      let bytes = 0;
      const isReached = (runId: string) => reached.get(runId, tenant, mode, ...reach) !== undefined;
      let seen = 0;
      for (const row of allRows()) {
        seen += 1;
        last = { order: integer(row, 'position'), index: 0 };
        if (integer(row, 'is_reached') === 0 || types?.includes(text(row, 'type')) === false) {
          if (seen >= limit) break;
          continue;
        }
        events.push({ position: last, event: eventOf(row) });
        bytes += Buffer.byteLength(text(row, 'payload'));
        if (bytes >= maxBytes || seen >= limit) break;
      }
      return { events, last };

      function* allRows(): Generator<Row> {
        const newer = journal.committed.events;
        const [first] = newer;
        if (first === undefined || after.order < first[10]) {
          for (const row of listAll.iterate(tenant, mode, ...reach, after.order, limit)) {
            if (first !== undefined && integer(row, 'position') >= first[10]) break;
            yield row;
          }
        }
        for (const event of newer) {
          if (event[10] > after.order) yield { ...rowOf(event), is_reached: isReached(event[0]) ? 1 : 0 };
        }
      }
    },
    async newest() {
      const order = newestPosition();
      return order === 0 ? BEFORE_ALL_EVENTS : { order, index: 0 };
    },
    async removedUpTo({ tenant, mode }) {
      const row = removed.get(tenant, mode);
      return row === undefined ? BEFORE_ALL_EVENTS : { order: integer(row, 'position'), index: 0 };
    },
  };

  /** A second event of a sequence is refused now, and not when the journal is applied. */
  function requireNew(events: readonly EventColumns[]): void {
    const sequences = new Map<string, number>();
    for (const [runId, sequence] of events) {
      const last = sequences.get(runId) ?? journal.pending.lastSequences.get(runId);
      const isStored = last === undefined ? stored.get(runId, sequence) !== undefined : sequence <= last;
      if (isStored) throw new Error(`Event ${sequence} of run ${runId}: is stored already. Append the next one.`);
      sequences.set(runId, sequence);
    }
  }

  /** The rows of a run's events: those of the table before those of the journal, `newer`. */
  function* rowsOf(
    runId: string,
    {
      after,
      limit,
      newer,
    }: { readonly after: number; readonly limit: number; readonly newer: readonly EventColumns[] },
  ): Generator<Row> {
    const first = newer[0]?.[1] ?? Number.POSITIVE_INFINITY;
    if (after + 1 < first) {
      for (const row of list.iterate(runId, after, limit)) {
        if (integer(row, 'sequence') >= first) break;
        yield row;
      }
    }
    for (const event of newer) if (event[1] > after) yield rowOf(event);
  }
}

/** Payloads of one transaction that are longer, in UTF-16 code units, are written to their table at once. */
const MOST_IN_JOURNAL = 256 * 1024;

function columnsOf(event: RunEvent, position: number): EventColumns {
  const { runId, sequence, eventId, type, timestamp, schemaVersion, engineVersion } = event;
  const payload = JSON.stringify(event.payload);
  const { nodeId = null, causationId = null } = event;
  return [
    ...([runId, sequence, eventId, type, timestamp, payload] as const),
    ...([schemaVersion, engineVersion, nodeId, causationId, position] as const),
  ];
}

function rowOf(event: EventColumns): Row {
  const [runId, sequence, eventId, type, timestamp, payload, schemaVersion, engineVersion, nodeId, causationId] = event;
  return {
    run_id: runId,
    sequence,
    event_id: eventId,
    type,
    timestamp,
    payload,
    schema_version: schemaVersion,
    engine_version: engineVersion,
    node_id: nodeId,
    causation_id: causationId,
    position: event[10],
  };
}
