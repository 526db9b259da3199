import type { Tenancy } from '@svc/auth';
import { HostError } from '../errors.ts';
import type { Lookup } from '../lookup.ts';
import type { Run, RunStore } from '../ports/runs.ts';
import type { Transaction } from '../ports/transaction.ts';

/**
 * The run that was looked up for a caller.
 *
 * @throws {HostError} `not_found`, also for what is another tenant's or of the other mode; `run_forbidden` for another workspace's
 * @see Interface: Authorization rules, 1 to 4
 */
export function foundRun(lookup: Lookup<Run>): Run {
  if (lookup.kind === 'found') return lookup.value;
  if (lookup.kind === 'absent') throw new HostError('not_found', 'There is no such run.', { details: undefined });
  const message = 'The run belongs to a workspace that this credential does not reach.';
  throw new HostError('run_forbidden', message, { details: undefined });
}

/** Finds, inside of a transaction, a run that a caller wants to change. */
export function runForChange(
  runs: Pick<RunStore, 'readForChange'>,
  tenancy: Tenancy,
  runId: string,
): (transaction: Transaction) => Promise<Run> {
  return async (transaction) => foundRun(await runs.readForChange(tenancy, runId, transaction));
}
