import type { Tenancy } from '@svc/auth';
import type { Lookup } from '../lookup.ts';
import type { Transaction } from '../transaction.ts';
import type { Run, RunChange } from './run.ts';

/** Runs, reachable for a caller only through its tenancy. */
export interface RunStore {
  insert(run: Run, transaction: Transaction): Promise<void>;
  /** The run, if the caller's tenant and mode own it and its workspace is within reach. */
  read(tenancy: Tenancy, runId: string): Promise<Lookup<Run>>;
  /** The run as it stands inside the transaction, for the event log alone: what appends is the host, not a caller. */
  forAppend(runId: string, transaction: Transaction): Promise<Run | undefined>;
  update(runId: string, change: RunChange, transaction: Transaction): Promise<void>;
  /** The newest sequence of each of these runs, for those who hold them and wait for more. An unknown run is left out. */
  lastSequences(runIds: readonly string[]): Promise<readonly (readonly [runId: string, lastSequence: number])[]>;
  /** Up to `limit` runs that have not ended, oldest first, those after `after` only: what a restarted host takes up again. */
  unfinished(page: { readonly after: string | undefined; readonly limit: number }): Promise<readonly Run[]>;
}
