import type { Principal } from '@svc/auth';
import type { ChangeServices } from '../audit/change-services.ts';
import { type AuditAction, factAbout } from '../audit/fact.ts';
import { HostError } from '../errors.ts';
import type { Save } from '../ports/idempotency.ts';
import { isTerminal, type Run } from '../ports/runs.ts';
import type { OpenRun, RunLog } from './event-log.ts';
import { runForChange } from './find-run.ts';

/** The ports of an operation on a run that exists. */
export interface RunServices extends ChangeServices {
  readonly events: RunLog;
  /** Told of the run after the commit. */
  readonly executor: { notice(run: Run): void };
}

/** Changes a run, and answers whether there is something to put on record. */
export type Change = (open: OpenRun) => Promise<'done' | 'nothing-to-do'>;

/**
 * Does something with a run for a caller: in one transaction the run is found in the caller's reach, changed, and the change put
 * on record; whoever drives the run is told after that.
 *
 * @param save is called in the transaction of the change
 * @throws {HostError} `not_found`, `run_forbidden`
 */
export async function changeRun(
  options: RunServices,
  principal: Principal,
  runId: string,
  action: AuditAction,
  work: Change,
  save: Save<Run>,
): Promise<Run> {
  const { store, clock, events, executor, recordAudit } = options;
  const found = runForChange(store.runs, principal.tenancy, runId);
  const run = await events.change(found, async (open) => {
    const outcome = await work(open);
    const target = `${open.run.tenant}/${runId}`;
    const fact = factAbout(principal, { action, target, at: clock.now() });
    await save(open.run, open.transaction);
    if (outcome === 'done') await recordAudit(fact, open.transaction);
    return open.run;
  });
  executor.notice(run);
  return run;
}

/** Why a run cannot do what is asked for where it stands: it has ended, or it is not the time for it. */
export function conflict({ status, pausedAt }: Run, asked: string): HostError {
  const details = {
    runStatus: status,
    ...(pausedAt !== undefined && { pausedAt: new Date(pausedAt).toISOString() }),
  };
  return isTerminal(status)
    ? new HostError('run_terminal', `The run has ended (${status}), so it cannot be ${asked}.`, { details })
    : new HostError('run_state_conflict', `The run is ${status}, so it cannot be ${asked}.`, { details });
}
