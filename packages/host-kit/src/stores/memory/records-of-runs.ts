import type { Run } from '../../ports/runs.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { type Journal, put } from './journal.ts';

/** A store with records of runs. */
export interface RecordsOfRuns {
  /** Deletes the records of a run, in the transaction that removes it. */
  drop(run: Run, transaction: Transaction): void;
}

/** Deletes the records of a run from a map. */
export function dropFrom<V extends { readonly runId: string }>(
  journal: Journal,
  map: Map<string, V>,
): RecordsOfRuns['drop'] {
  return ({ runId }, transaction) => {
    for (const [key, record] of map) if (record.runId === runId) put(journal, transaction, map, key, undefined);
  };
}
