import type { DatabaseSync } from 'node:sqlite';
import type { RunStore } from '../../ports/runs.ts';
import { text } from '../sql/row.ts';
import { RECORDS_OF_RUNS } from '../sql/run-records.ts';
import type { WriteJournal } from './write-journal.ts';
import type { Writer } from './writer.ts';

const ENDED = `SELECT run_id FROM runs INDEXED BY runs_ended
  WHERE status IN ('completed', 'failed', 'cancelled') AND completed_at < ?
  AND NOT EXISTS (SELECT 1 FROM runs AS fork INDEXED BY runs_forking
    WHERE fork.fork_source = runs.run_id AND fork.status NOT IN ('completed', 'failed', 'cancelled'))
  AND NOT EXISTS (SELECT 1 FROM runs AS parent
    WHERE parent.run_id = runs.parent_run_id AND parent.status NOT IN ('completed', 'failed', 'cancelled'))
  ORDER BY completed_at LIMIT ?`;
// The events of a run have rising positions.
const NOTE_POSITION = `INSERT INTO removed_positions (tenant, mode, position)
  SELECT tenant, mode, position FROM runs JOIN events USING (run_id)
    WHERE run_id = ? AND position IS NOT NULL ORDER BY sequence DESC LIMIT 1
  ON CONFLICT (tenant, mode) DO UPDATE SET position = max(position, excluded.position)`;
const NOTE_RUN = 'INSERT INTO removed_runs (run_id) VALUES (?) ON CONFLICT DO NOTHING';
const REMOVE = 'DELETE FROM runs WHERE run_id = ?';
const REMOVED = 'SELECT run_id FROM removed_runs ORDER BY run_id LIMIT 1';
const FORGET = 'DELETE FROM removed_runs WHERE run_id = ?';

/** Removes ended runs, and the records that they leave. */
export function runRemoval(
  database: DatabaseSync,
  writer: Writer,
  journal: Pick<WriteJournal, 'apply'>,
): Pick<RunStore, 'removeEnded' | 'sweep'> {
  const ended = database.prepare(ENDED);
  const notePosition = database.prepare(NOTE_POSITION);
  const noteRun = database.prepare(NOTE_RUN);
  const remove = database.prepare(REMOVE);
  const removed = database.prepare(REMOVED);
  const forget = database.prepare(FORGET);
  const deletions = Object.entries(RECORDS_OF_RUNS).map(([table, key]) =>
    database.prepare(`DELETE FROM ${table} WHERE (run_id, ${key}) IN
      (SELECT run_id, ${key} FROM ${table} WHERE run_id = ? LIMIT ?)`),
  );

  return {
    removeEnded: ({ endedBefore, limit }) =>
      writer.transaction(async (transaction) => {
        // A run may have ended with its last events in the journal.
        journal.apply(transaction);
        const runIds = ended.all(endedBefore, limit).map((row) => text(row, 'run_id'));
        for (const runId of runIds) {
          notePosition.run(runId);
          noteRun.run(runId);
          remove.run(runId);
        }
        return runIds.length;
      }),
    sweep: (limit) =>
      writer.transaction(async (transaction) => {
        journal.apply(transaction);
        let swept = 0;
        for (let row = removed.get(); row !== undefined && swept < limit; row = removed.get()) {
          const runId = text(row, 'run_id');
          for (const deletion of deletions)
            if (swept < limit) swept += Number(deletion.run(runId, limit - swept).changes);
          // Below the limit, nothing of the run is left.
          if (swept < limit) swept += Number(forget.run(runId).changes);
        }
        return swept;
      }),
  };
}
