import type { DatabaseSync } from 'node:sqlite';
import { reachesWorkspace } from '@svc/auth';
import { ABSENT, OTHER_WORKSPACE } from '../../lookup.ts';
import type { RunStore } from '../../runs/run-store.ts';
import { integer, optional, text } from '../sql/row.ts';
import { documentOf, runOf } from '../sql/run-row.ts';
import type { Writer } from './writer.ts';

const INSERT = `INSERT INTO runs (run_id, tenant, workspace, mode, status, last_sequence, document)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;
const READ = 'SELECT * FROM runs WHERE run_id = ? AND tenant = ? AND mode = ?';
const FOR_APPEND = 'SELECT * FROM runs WHERE run_id = ?';
const UPDATE = `UPDATE runs SET status = ?, last_sequence = ?, started_at = coalesce(?, started_at),
  completed_at = coalesce(?, completed_at), error = coalesce(?, error) WHERE run_id = ?`;
const LAST_SEQUENCES = `SELECT run_id, last_sequence FROM runs WHERE run_id IN (SELECT value FROM json_each(?))`;
const UNFINISHED = `SELECT * FROM runs WHERE status NOT IN ('completed', 'failed', 'cancelled') AND run_id > ?
  ORDER BY run_id LIMIT ?`;

export function runStore(reader: DatabaseSync, database: DatabaseSync, writer: Writer): RunStore {
  const insert = database.prepare(INSERT);
  const forAppend = database.prepare(FOR_APPEND);
  const update = database.prepare(UPDATE);
  const read = reader.prepare(READ);
  const lastSequences = reader.prepare(LAST_SEQUENCES);
  const unfinished = reader.prepare(UNFINISHED);

  return {
    async insert(run, transaction) {
      writer.require(transaction);
      insert.run(run.runId, run.tenant, run.workspace ?? null, run.mode, run.status, run.lastSequence, documentOf(run));
    },
    async read(tenancy, runId) {
      const row = read.get(runId, tenancy.tenant, tenancy.mode);
      if (row === undefined) return ABSENT;
      const reached = reachesWorkspace(tenancy, optional(row, 'workspace', text));
      return reached ? { kind: 'found', value: runOf(row) } : OTHER_WORKSPACE;
    },
    async forAppend(runId, transaction) {
      writer.require(transaction);
      const row = forAppend.get(runId);
      return row === undefined ? undefined : runOf(row);
    },
    async update(runId, change, transaction) {
      writer.require(transaction);
      const error = change.error === undefined ? null : JSON.stringify(change.error);
      const { status, lastSequence, startedAt = null, completedAt = null } = change;
      update.run(status, lastSequence, startedAt, completedAt, error, runId);
    },
    async lastSequences(runIds) {
      return lastSequences
        .all(JSON.stringify(runIds))
        .map((row) => [text(row, 'run_id'), integer(row, 'last_sequence')]);
    },
    async unfinished({ after, limit }) {
      return unfinished.all(after ?? '', limit).map(runOf);
    },
  };
}
