import type { RunStore } from '../../ports/runs.ts';
import { text } from '../sql/row.ts';
import { RECORDS_OF_RUNS } from '../sql/run-records.ts';
import type { Database, Statement } from './database.ts';

const HAS_ENDED = `status IN ('completed', 'failed', 'cancelled')`;
const IS_FORKED = `EXISTS (SELECT 1 FROM runs AS fork WHERE fork.fork_source = runs.run_id
  AND fork.status NOT IN ('completed', 'failed', 'cancelled'))`;
// A value of each child, and no join: the planner would read all runs that have not ended.
const IS_AWAITED = `(runs.parent_run_id IS NOT NULL AND coalesce((SELECT parent.status NOT IN ('completed', 'failed', 'cancelled')
  FROM runs AS parent WHERE parent.run_id = runs.parent_run_id), false))`;

/** The query of ended runs. */
export const ENDED: Statement = {
  name: 'runs-ended',
  // Runs that another host removes, or that are being forked, are left to the next round.
  text: `SELECT run_id FROM runs WHERE ${HAS_ENDED} AND completed_at < $1 AND NOT ${IS_FORKED} AND NOT ${IS_AWAITED}
    ORDER BY completed_at LIMIT $2 FOR UPDATE SKIP LOCKED`,
};
const REMOVE = {
  name: 'runs-remove',
  // Looks for forks again: one may have been committed between the snapshot of ENDED and its lock.
  text: `WITH removed AS (DELETE FROM runs WHERE run_id = ANY ($1::text[]) AND NOT ${IS_FORKED} RETURNING run_id, tenant, mode),
    listed AS (INSERT INTO removed_runs (run_id) SELECT run_id FROM removed ON CONFLICT DO NOTHING),
    ends AS (
      SELECT DISTINCT ON (tenant, mode) tenant, mode, commit_order, commit_index
      FROM removed CROSS JOIN LATERAL (
        SELECT commit_order, commit_index FROM events WHERE events.run_id = removed.run_id
        ORDER BY sequence DESC LIMIT 1) AS newest
      WHERE commit_order IS NOT NULL
      ORDER BY tenant, mode, commit_order DESC, commit_index DESC),
    noted AS (
      INSERT INTO removed_positions AS known (tenant, mode, commit_order, commit_index)
      SELECT * FROM ends ORDER BY tenant, mode
      ON CONFLICT (tenant, mode) DO UPDATE SET commit_order = excluded.commit_order, commit_index = excluded.commit_index
      WHERE (known.commit_order, known.commit_index) < (excluded.commit_order, excluded.commit_index))
    SELECT run_id FROM removed`,
};
const REMOVED = {
  name: 'runs-removed',
  text: 'SELECT run_id FROM removed_runs ORDER BY run_id LIMIT $1 FOR UPDATE SKIP LOCKED',
};
/** The statements that delete the records of removed runs. */
export const DELETIONS: readonly Statement[] = Object.entries(RECORDS_OF_RUNS).map(([table, key]) => ({
  name: `runs-sweep-${table}`,
  text: `DELETE FROM ${table} WHERE (run_id, ${key}) IN (
    SELECT found.run_id, found.${key} FROM unnest($1::text[]) AS removed (id) CROSS JOIN LATERAL (
      SELECT run_id, ${key} FROM ${table} WHERE run_id = removed.id LIMIT $2) AS found LIMIT $2)`,
}));
const FORGET = { name: 'runs-forget', text: 'DELETE FROM removed_runs WHERE run_id = ANY ($1::text[])' };

/** Removes ended runs, and the records that they leave. */
export function runRemoval(database: Database): Pick<RunStore, 'removeEnded' | 'sweep'> {
  return {
    removeEnded: ({ endedBefore, limit }) =>
      database.transaction(async (transaction) => {
        const { rows } = await database.within(transaction, ENDED, [endedBefore, limit]);
        if (rows.length === 0) return 0;
        return (await database.within(transaction, REMOVE, [rows.map((row) => text(row, 'run_id'))])).rows.length;
      }),
    sweep: (limit) =>
      database.transaction(async (transaction) => {
        const { rows } = await database.within(transaction, REMOVED, [MOST_RUNS]);
        const runIds = rows.map((row) => text(row, 'run_id'));
        if (runIds.length === 0) return 0;
        let swept = 0;
        for (const deletion of DELETIONS) {
          if (swept < limit) swept += (await database.within(transaction, deletion, [runIds, limit - swept])).count;
        }
        // Below the limit, nothing of these runs is left.
        if (swept < limit) swept += (await database.within(transaction, FORGET, [runIds])).count;
        return swept;
      }),
  };
}

/** The number of removed runs whose records one step deletes, at most. */
const MOST_RUNS = 50;
