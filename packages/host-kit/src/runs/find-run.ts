import type { Principal, Tenancy } from '@svc/auth';
import { HostError } from '../errors.ts';
import type { Lookup } from '../lookup.ts';
import type { Run, RunStore } from '../ports/runs.ts';
import type { Transaction } from '../ports/transaction.ts';

/**
 * Returns the run of a lookup that a caller asked for.
 *
 * @throws {HostError} `not_found`, also for a run of another tenant or mode; `run_forbidden` for a run of another
 * workspace
 * @see Interface: Authorization rules, 1 to 4
 */
export function foundRun(lookup: Lookup<Run>): Run {
  if (lookup.kind === 'found') return lookup.value;
  if (lookup.kind === 'absent') throw new HostError('not_found', 'There is no such run.', { details: undefined });
  const message = 'The run belongs to a workspace that this credential does not reach.';
  throw new HostError('run_forbidden', message, { details: undefined });
}

/** Returns a function that finds a run in a transaction, for a change by a caller. Throws as `foundRun`. */
export function runForChange(
  runs: Pick<RunStore, 'readForChange'>,
  tenancy: Tenancy,
  runId: string,
): (transaction: Transaction) => Promise<Run> {
  return async (transaction) => foundRun(await runs.readForChange(tenancy, runId, transaction));
}

/**
 * Whether a caller reaches a run of its tenancy. An anonymous one reaches the runs of its own session alone.
 *
 * @see Interface: Run owner (identity triple), Anonymous actor rules, 4
 */
export function isWithinReach({ kind, id }: Principal, { owner }: Run): boolean {
  return kind !== 'anonymous' || (owner?.principal === id && owner.principalKind === 'anonymous');
}
