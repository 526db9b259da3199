import type { Tenancy } from '@svc/auth';
import type { Lookup } from '../lookup.ts';
import type { Transaction } from '../transaction.ts';
import type { Run } from './run.ts';

/** Runs, reachable for a caller only through its tenancy. */
export interface RunStore {
  insert(run: Run, transaction: Transaction): Promise<void>;
  /** The run, if the caller's tenant and mode own it and its workspace is within reach. */
  read(tenancy: Tenancy, runId: string): Promise<Lookup<Run>>;
  /** The same, as the run stands inside the transaction, for what a caller changes of it. */
  readForChange(tenancy: Tenancy, runId: string, transaction: Transaction): Promise<Lookup<Run>>;
  /** Up to `limit` runs that `read` would find, newest first, those before `before` only. */
  list(
    tenancy: Tenancy,
    page: { readonly before: string | undefined; readonly limit: number },
  ): Promise<readonly Run[]>;
  /**
   * Of these runs those that there are, as they stand inside the transaction, for the event log alone: what appends is the host, not a
   * caller.
   */
  forAppend(runIds: readonly string[], transaction: Transaction): Promise<readonly Run[]>;
  /** The newest sequence of each of these runs, for those who hold them and wait for more. An unknown run is left out. */
  lastSequences(runIds: readonly string[]): Promise<readonly (readonly [runId: string, lastSequence: number])[]>;
  /**
   * A run of the same tenant, workspace, mode and `scopeId` that has not ended. Until the transaction ends no other one asks the
   * same.
   */
  activeIn(run: Run, transaction: Transaction): Promise<Run | undefined>;
  /** Writes what may change of runs: their state. */
  update(runs: readonly Run[], transaction: Transaction): Promise<void>;
  /** From now on this host drives the run, and whoever did before appends nothing more. */
  claim(run: Run, transaction: Transaction): Promise<Run>;
  /**
   * Up to `limit` runs for which there is something to do, by their ids, those after `after` only: what a restarted host takes up
   * again. Runs that wait or are paused are not among them.
   */
  unfinished(page: { readonly after: string | undefined; readonly limit: number }): Promise<readonly Run[]>;
  /** Of these runs those that are not just to be driven on: one that left `pending` and `running`, or is to be paused. */
  disturbed(runIds: readonly string[]): Promise<readonly Run[]>;
}
