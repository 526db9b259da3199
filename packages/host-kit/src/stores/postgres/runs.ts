import { reachesWorkspace } from '@svc/auth';
import { ABSENT, OTHER_WORKSPACE } from '../../lookup.ts';
import type { Run } from '../../runs/run.ts';
import type { RunStore } from '../../runs/run-store.ts';
import { integer, optional, type Row, text } from '../sql/row.ts';
import { documentOf, runOf } from '../sql/run-row.ts';
import type { Database } from './database.ts';

/** The database's own clock, in ms: hosts that share it need not agree on the time. */
const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
const OPEN = `status NOT IN ('completed', 'failed', 'cancelled')`;

const INSERT = {
  name: 'runs-insert',
  text: `INSERT INTO runs (run_id, tenant, workspace, mode, status, last_sequence, document, holder, held_until)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, ${NOW} + $9)`,
};
const READ = { name: 'runs-read', text: 'SELECT * FROM runs WHERE run_id = $1 AND tenant = $2 AND mode = $3' };
const FOR_APPEND = { name: 'runs-for-append', text: 'SELECT * FROM runs WHERE run_id = $1 FOR UPDATE' };
const UPDATE = {
  name: 'runs-update',
  text: `UPDATE runs SET status = $1, last_sequence = $2, started_at = coalesce($3, started_at),
    completed_at = coalesce($4, completed_at), error = coalesce($5, error) WHERE run_id = $6`,
};
const LAST_SEQUENCES = {
  name: 'runs-last-sequences',
  text: 'SELECT run_id, last_sequence FROM runs WHERE run_id = ANY($1)',
};
const TAKE_UP = {
  name: 'runs-take-up',
  // What the last holder may still be doing is of an epoch that has ended.
  text: `UPDATE runs SET epoch = epoch + (holder <> $1)::int, holder = $1, held_until = ${NOW} + $2 WHERE run_id IN (
      SELECT run_id FROM runs WHERE ${OPEN} AND run_id > $3 AND (holder = $1 OR held_until < ${NOW})
      ORDER BY run_id LIMIT $4 FOR UPDATE SKIP LOCKED)
    RETURNING *`,
};
const HOLD = {
  name: 'runs-hold',
  text: `UPDATE runs SET held_until = ${NOW} + $2 WHERE holder = $1 AND ${OPEN}`,
};
const LET_GO = { name: 'runs-let-go', text: `UPDATE runs SET held_until = 0 WHERE holder = $1 AND ${OPEN}` };

export interface HeldRuns extends RunStore {
  /** Says that this host is alive, and goes on with its runs. */
  hold(): Promise<void>;
  /** Leaves its runs to others. */
  letGo(): Promise<void>;
}

/**
 * @param holder names this host among those that share the database
 * @param heldMs how long a host that has died keeps its runs from the others
 */
export function runStore(database: Database, holder: string, heldMs: number): HeldRuns {
  return {
    async insert(run, transaction) {
      const { runId, tenant, workspace = null, mode, status, lastSequence } = run;
      const values = [runId, tenant, workspace, mode, status, lastSequence, documentOf(run), holder, heldMs];
      await database.within(transaction, INSERT, values);
    },
    async read(tenancy, runId) {
      const [row] = (await database.query(READ, [runId, tenancy.tenant, tenancy.mode])).rows;
      if (row === undefined) return ABSENT;
      const reached = reachesWorkspace(tenancy, optional(row, 'workspace', text));
      return reached ? { kind: 'found', value: heldRunOf(row) } : OTHER_WORKSPACE;
    },
    async forAppend(runId, transaction) {
      const [row] = (await database.within(transaction, FOR_APPEND, [runId])).rows;
      return row === undefined ? undefined : heldRunOf(row);
    },
    async update(runId, change, transaction) {
      const error = change.error === undefined ? null : JSON.stringify(change.error);
      const { status, lastSequence, startedAt = null, completedAt = null } = change;
      await database.within(transaction, UPDATE, [status, lastSequence, startedAt, completedAt, error, runId]);
    },
    async lastSequences(runIds) {
      const { rows } = await database.query(LAST_SEQUENCES, [[...runIds]]);
      return rows.map((row) => [text(row, 'run_id'), integer(row, 'last_sequence')]);
    },
    async unfinished({ after, limit }) {
      const { rows } = await database.query(TAKE_UP, [holder, heldMs, after ?? '', limit]);
      return rows.map(heldRunOf).sort((a, b) => (a.runId < b.runId ? -1 : 1));
    },
    async hold() {
      await database.query(HOLD, [holder, heldMs]);
    },
    async letGo() {
      await database.query(LET_GO, [holder]);
    },
  };
}

function heldRunOf(row: Row): Run {
  const epoch = integer(row, 'epoch');
  return { ...runOf(row), ...(epoch > 0 && { epoch }) };
}
