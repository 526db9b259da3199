import type { DatabaseSync } from 'node:sqlite';
import { reachesWorkspace, type Tenancy } from '@svc/auth';
import { ABSENT, type Lookup, OTHER_WORKSPACE } from '../../lookup.ts';
import type { Run, RunStore } from '../../ports/runs.ts';
import { integer, optional, type Row, text } from '../sql/row.ts';
import { documentOf, runOf, STATE_COLUMNS, stateOf } from '../sql/runs.ts';
import type { Writer } from './writer.ts';

const INSERT = `INSERT INTO runs (run_id, tenant, workspace, mode, scope_id, conversation, document, ${STATE_COLUMNS.join(', ')})
  VALUES (?, ?, ?, ?, ?, ?, ?, ${STATE_COLUMNS.map(() => '?').join(', ')})`;
const READ = 'SELECT * FROM runs WHERE run_id = ? AND tenant = ? AND mode = ?';
const LIST = 'SELECT * FROM runs WHERE tenant = ? AND mode = ? AND run_id < ? ORDER BY run_id DESC LIMIT ?';
const LIST_IN = `SELECT * FROM runs WHERE tenant = ? AND mode = ? AND workspace = ? AND run_id < ?
  ORDER BY run_id DESC LIMIT ?`;
const TURNS = `SELECT * FROM runs WHERE tenant = ? AND mode = ? AND conversation = ?
  AND (? OR workspace IN (SELECT value FROM json_each(?))) ORDER BY run_id DESC LIMIT ?`;
const FOR_APPEND = 'SELECT * FROM runs WHERE run_id = ?';
const LAST_SEQUENCES = `SELECT run_id, last_sequence FROM runs WHERE run_id IN (SELECT value FROM json_each(?))`;
const ACTIVE = `SELECT * FROM runs WHERE scope_id = ? AND tenant = ? AND mode = ? AND workspace IS ?
  AND status NOT IN ('completed', 'failed', 'cancelled') LIMIT 1`;
const UPDATE = `UPDATE runs SET ${STATE_COLUMNS.map((column) => `${column} = ?`).join(', ')} WHERE run_id = ?`;
const UNFINISHED = `SELECT * FROM runs WHERE status IN ('pending', 'running', 'cancelling') AND run_id > ?
  ORDER BY run_id LIMIT ?`;
const DISTURBED = `SELECT runs.* FROM json_each(?) AS asked JOIN runs ON run_id = asked.value
  WHERE status NOT IN ('pending', 'running') OR pause_request IS NOT NULL`;

export function runStore(reader: DatabaseSync, database: DatabaseSync, writer: Writer): RunStore {
  const insert = database.prepare(INSERT);
  const forChange = database.prepare(READ);
  const forAppend = database.prepare(FOR_APPEND);
  const active = database.prepare(ACTIVE);
  const update = database.prepare(UPDATE);
  const read = reader.prepare(READ);
  const lastSequences = reader.prepare(LAST_SEQUENCES);
  const list = reader.prepare(LIST);
  const listIn = reader.prepare(LIST_IN);
  const turns = reader.prepare(TURNS);
  const unfinished = reader.prepare(UNFINISHED);
  const disturbed = reader.prepare(DISTURBED);

  return {
    async insert(run, transaction) {
      writer.require(transaction);
      const { runId, tenant, workspace = null, mode, scopeId = null, conversation = null } = run;
      insert.run(runId, tenant, workspace, mode, scopeId, conversation, documentOf(run), ...stateOf(run));
    },
    async read(tenancy, runId) {
      return lookup(tenancy, read.get(runId, tenancy.tenant, tenancy.mode));
    },
    async readForChange(tenancy, runId, transaction) {
      writer.require(transaction);
      return lookup(tenancy, forChange.get(runId, tenancy.tenant, tenancy.mode));
    },
    async list({ tenant, mode, workspaces }, { before = LAST_ID, limit }) {
      if (workspaces === 'all') return list.all(tenant, mode, before, limit).map(runOf);
      // The index sorts the runs of one workspace, not of several: take the newest of each, and the newest of these.
      const found = workspaces.flatMap((workspace) => listIn.all(tenant, mode, workspace, before, limit).map(runOf));
      return found.sort((a, b) => (a.runId < b.runId ? 1 : -1)).slice(0, limit);
    },
    async turns({ tenant, mode, workspaces }, conversation, limit) {
      const reach = workspaces === 'all' ? [1, '[]'] : [0, JSON.stringify(workspaces)];
      return turns.all(tenant, mode, conversation, ...reach, limit).map(runOf);
    },
    async forAppend(runIds, transaction) {
      writer.require(transaction);
      return runIds.flatMap((runId) => {
        const row = forAppend.get(runId);
        return row === undefined ? [] : [runOf(row)];
      });
    },
    async activeIn({ tenant, workspace = null, mode, scopeId = null }, transaction) {
      writer.require(transaction);
      const row = active.get(scopeId, tenant, mode, workspace);
      return row === undefined ? undefined : runOf(row);
    },
    async lastSequences(runIds) {
      return lastSequences
        .all(JSON.stringify(runIds))
        .map((row) => [text(row, 'run_id'), integer(row, 'last_sequence')]);
    },
    async update(runs, transaction) {
      writer.require(transaction);
      for (const run of runs) update.run(...stateOf(run), run.runId);
    },
    claim: async (run) => run,
    async unfinished({ after, limit }) {
      return unfinished.all(after ?? '', limit).map(runOf);
    },
    async disturbed(runIds) {
      return disturbed.all(JSON.stringify(runIds)).map(runOf);
    },
  };
}

/** Sorts after every run id. */
const LAST_ID = '\u{10ffff}';

function lookup(tenancy: Tenancy, row: Row | undefined): Lookup<Run> {
  if (row === undefined) return ABSENT;
  const reached = reachesWorkspace(tenancy, optional(row, 'workspace', text));
  return reached ? { kind: 'found', value: runOf(row) } : OTHER_WORKSPACE;
}
