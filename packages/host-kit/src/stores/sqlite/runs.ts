import type { DatabaseSync } from 'node:sqlite';
import { reachesWorkspace, type Tenancy } from '@svc/auth';
import { ABSENT, type Lookup, OTHER_WORKSPACE } from '../../lookup.ts';
import type { Run, RunStore } from '../../ports/runs.ts';
import { PassedOver, readRecord } from '../passed-over.ts';
import { integer, optional, type Row, text } from '../sql/row.ts';
import {
  differsInMovingState,
  documentOf,
  movingStateOf,
  RUNS,
  relativesOf,
  STATE_COLUMNS,
  stateOf,
} from '../sql/runs.ts';
import type { MovingState } from './journal-rows.ts';
import { RunCache } from './run-cache.ts';
import { runRemoval } from './run-removal.ts';
import { movedRow, type WriteJournal } from './write-journal.ts';
import type { Writer } from './writer.ts';

const INSERT = `INSERT INTO runs (run_id, tenant, workspace, mode, scope_id, conversation, fork_source, parent_run_id, parent_node_id,
    document, ${STATE_COLUMNS.join(', ')})
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${STATE_COLUMNS.map(() => '?').join(', ')})`;
const READ = 'SELECT * FROM runs WHERE run_id = ? AND tenant = ? AND mode = ?';
const LIST = 'SELECT * FROM runs WHERE tenant = ? AND mode = ? AND run_id < ? ORDER BY run_id DESC LIMIT ?';
const LIST_IN = `SELECT * FROM runs WHERE tenant = ? AND mode = ? AND workspace = ? AND run_id < ?
  ORDER BY run_id DESC LIMIT ?`;
const OF_CONVERSATION = `SELECT * FROM runs WHERE tenant = ? AND mode = ? AND conversation = ?
  AND (? OR workspace IN (SELECT value FROM json_each(?))) ORDER BY run_id DESC LIMIT ?`;
const FOR_APPEND = 'SELECT * FROM runs WHERE run_id = ?';
const LAST_SEQUENCES = `SELECT run_id, last_sequence FROM runs WHERE run_id IN (SELECT value FROM json_each(?))`;
const ACTIVE = `SELECT * FROM runs WHERE scope_id = ? AND tenant = ? AND mode = ? AND workspace IS ?
  AND status NOT IN ('completed', 'failed', 'cancelled') LIMIT 1`;
const UPDATE = `UPDATE runs SET ${STATE_COLUMNS.map((column) => `${column} = ?`).join(', ')} WHERE run_id = ?`;
const UNFINISHED = `SELECT * FROM runs WHERE status IN ('pending', 'running', 'cancelling') AND run_id > ?
  ORDER BY run_id LIMIT ?`;
const TO_STOP = `SELECT runs.* FROM json_each(?) AS asked JOIN runs ON run_id = asked.value
  WHERE status NOT IN ('pending', 'running') OR pause_request IS NOT NULL`;

const CHILD = 'SELECT * FROM runs WHERE parent_run_id = ? AND parent_node_id = ?';
// From the few that are open or wait, to their relatives.
const ORPHANS = `SELECT child.* FROM runs AS child INDEXED BY runs_open_children JOIN runs AS parent ON parent.run_id = child.parent_run_id
  WHERE child.parent_run_id IS NOT NULL AND child.status NOT IN ('completed', 'failed', 'cancelled', 'cancelling')
    AND parent.status IN ('completed', 'failed', 'cancelled', 'cancelling') AND child.run_id > ?
  ORDER BY child.run_id LIMIT ?`;
const ORPHANS_OF = `SELECT child.* FROM runs AS child JOIN runs AS parent ON parent.run_id = child.parent_run_id
  WHERE (child.parent_run_id = ?3 OR child.run_id = ?3)
    AND child.status NOT IN ('completed', 'failed', 'cancelled', 'cancelling')
    AND parent.status IN ('completed', 'failed', 'cancelled', 'cancelling') AND child.run_id > ?1
  ORDER BY child.run_id LIMIT ?2`;
const AWAITED = `SELECT child.* FROM runs AS parent INDEXED BY runs_waiting_external
  JOIN runs AS child ON child.parent_run_id = parent.run_id AND child.parent_node_id = parent.current_node_id
  WHERE parent.status = 'waiting-external' AND child.status IN ('completed', 'failed', 'cancelled') AND child.run_id > ?
  ORDER BY child.run_id LIMIT ?`;
const AWAITED_OF = `SELECT child.* FROM runs AS child JOIN runs AS parent ON parent.run_id = child.parent_run_id
  WHERE (child.parent_run_id = ?3 OR child.run_id = ?3) AND child.status IN ('completed', 'failed', 'cancelled')
    AND parent.status = 'waiting-external' AND parent.current_node_id = child.parent_node_id AND child.run_id > ?1
  ORDER BY child.run_id LIMIT ?2`;

/** How a store reads runs. */
interface RunReading {
  readonly cache?: RunCache;
  readonly passedOver?: PassedOver;
}

export function runStore(
  reader: DatabaseSync,
  database: DatabaseSync,
  writer: Writer,
  journal: WriteJournal,
  { cache = new RunCache(writer), passedOver = new PassedOver() }: RunReading = {},
): RunStore {
  const insert = database.prepare(INSERT);
  const forChange = database.prepare(READ);
  const forAppend = database.prepare(FOR_APPEND);
  const active = database.prepare(ACTIVE);
  const update = database.prepare(UPDATE);
  const read = reader.prepare(READ);
  const lastSequences = reader.prepare(LAST_SEQUENCES);
  const list = reader.prepare(LIST);
  const listIn = reader.prepare(LIST_IN);
  const ofConversation = reader.prepare(OF_CONVERSATION);
  const unfinished = reader.prepare(UNFINISHED);
  const toStop = reader.prepare(TO_STOP);
  const child = database.prepare(CHILD);

  return {
    ...runRemoval(database, writer, journal),
    ...familiesOf(reader, page),
    async insert(run, transaction) {
      writer.require(transaction);
      const { runId, tenant, workspace = null, mode, scopeId = null, conversation = null } = run;
      const definition = [runId, tenant, workspace, mode, scopeId, conversation, ...relativesOf(run), documentOf(run)];
      insert.run(...definition, ...stateOf(run));
    },
    async read(tenancy, runId) {
      return lookup(tenancy, read.get(runId, tenancy.tenant, tenancy.mode), committedRun);
    },
    async readForChange(tenancy, runId, transaction) {
      writer.require(transaction);
      return lookup(tenancy, forChange.get(runId, tenancy.tenant, tenancy.mode), openRun);
    },
    async list({ tenant, mode, workspaces }, { before = LAST_ID, limit }) {
      if (workspaces === 'all')
        return page({ after: before, limit }, (from, most) => list.all(tenant, mode, from, most));
      // The index sorts the runs of one workspace, not of several: take the newest of each, and the newest of these.
      const found = await Promise.all(
        workspaces.map((workspace) =>
          page({ after: before, limit }, (from, most) => listIn.all(tenant, mode, workspace, from, most)),
        ),
      );
      return found
        .flat()
        .sort((a, b) => (a.runId < b.runId ? 1 : -1))
        .slice(0, limit);
    },
    async ofConversation({ tenant, mode, workspaces }, conversation, limit) {
      const reach = workspaces === 'all' ? [1, '[]'] : [0, JSON.stringify(workspaces)];
      return committedRuns(ofConversation.all(tenant, mode, conversation, ...reach, limit));
    },
    async forAppend(runIds, transaction) {
      writer.require(transaction);
      return runIds.flatMap((runId) => cache.of(runId, () => readForAppend(runId)) ?? []);
    },
    async activeIn({ tenant, workspace = null, mode, scopeId = null }, transaction) {
      writer.require(transaction);
      const row = active.get(scopeId, tenant, mode, workspace);
      return row === undefined ? undefined : openRun(row);
    },
    async lastSequences(runIds) {
      return lastSequences
        .all(JSON.stringify(runIds))
        .map((row) => [text(row, 'run_id'), integer(journal.committed.ofRun(row), 'last_sequence')]);
    },
    async update(runs, transaction) {
      writer.require(transaction);
      const moves: (readonly [string, ...MovingState])[] = [];
      for (const run of runs) {
        const before = cache.known(run.runId);
        // The sequence tells which state is newer, so a state of the same sequence is written to the table.
        if (before !== undefined && run.lastSequence > before.lastSequence && differsInMovingState(before, run)) {
          moves.push([run.runId, ...movingStateOf(run)]);
        } else {
          update.run(...stateOf(run), run.runId);
          journal.written(run.runId, transaction);
        }
        cache.changed(run, transaction);
      }
      if (moves.length > 0) journal.add({ kind: 'moves', moves }, transaction);
    },
    claim: async (run) => run,
    unfinished: ({ after = '', limit }) => page({ after, limit }, (from, most) => unfinished.all(from, most)),
    async toStop(runIds) {
      return committedRuns(toStop.all(JSON.stringify(runIds)));
    },
    async childOf({ runId, nodeId }, transaction) {
      writer.require(transaction);
      const row = child.get(runId, nodeId);
      return row === undefined ? undefined : openRun(row);
    },
  };

  function readForAppend(runId: string) {
    const row = forAppend.get(runId);
    return row && { run: openRun(row), length: text(row, 'document').length };
  }

  function page(
    asked: { readonly after: string; readonly limit: number },
    fetch: (after: string, limit: number) => readonly Row[],
  ): Promise<Run[]> {
    return passedOver.page(RUNS, asked, (after, limit) => fetch(after, limit).map(committedRow));
  }

  function committedRuns(rows: readonly Row[]): Run[] {
    return passedOver.all(RUNS, rows.map(committedRow));
  }

  function committedRow(row: Row): Row {
    return journal.committed.ofRun(row);
  }

  function committedRun(row: Row): Run {
    return readRun(committedRow(row));
  }

  /** A run as the open transaction sees it. */
  function openRun(row: Row): Run {
    return readRun(movedRow(row, journal.pending.moves.get(text(row, 'run_id'))));
  }

  function readRun(row: Row): Run {
    return passedOver.reported(() => readRecord(RUNS, row));
  }
}

type Page = (
  asked: { readonly after: string; readonly limit: number },
  fetch: (after: string, limit: number) => readonly Row[],
) => Promise<Run[]>;

function familiesOf(reader: DatabaseSync, page: Page): Pick<RunStore, 'orphans' | 'awaited'> {
  const orphans = reader.prepare(ORPHANS);
  const orphansOf = reader.prepare(ORPHANS_OF);
  const awaited = reader.prepare(AWAITED);
  const awaitedOf = reader.prepare(AWAITED_OF);
  return {
    orphans: ({ after = '', limit, of }) =>
      page({ after, limit }, (from, most) =>
        of === undefined ? orphans.all(from, most) : orphansOf.all(from, most, of),
      ),
    awaited: ({ after = '', limit, of }) =>
      page({ after, limit }, (from, most) =>
        of === undefined ? awaited.all(from, most) : awaitedOf.all(from, most, of),
      ),
  };
}

/** Sorts after every run id. */
const LAST_ID = '\u{10ffff}';

function lookup(tenancy: Tenancy, row: Row | undefined, read: (row: Row) => Run): Lookup<Run> {
  if (row === undefined) return ABSENT;
  const reached = reachesWorkspace(tenancy, optional(row, 'workspace', text));
  return reached ? { kind: 'found', value: read(row) } : OTHER_WORKSPACE;
}
