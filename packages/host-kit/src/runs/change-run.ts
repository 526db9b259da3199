import type { Principal } from '@svc/auth';
import type { ChangeServices } from '../audit/change-services.ts';
import { type AuditAction, factAbout } from '../audit/fact.ts';
import { HostError } from '../errors.ts';
import type { StandingOf } from '../ports/approvers.ts';
import type { Save } from '../ports/idempotency.ts';
import { isTerminal, type Run } from '../ports/runs.ts';
import type { OpenRun, RunLog } from './event-log.ts';
import { runForChange } from './find-run.ts';

/** The ports of an operation on a run that exists. */
export interface RunServices extends ChangeServices {
  readonly events: RunLog;
  /** `notice` is called with the run after the commit. */
  readonly executor: { onRequest(run: Run): void };
  /** Looks up groups and roles of approvers. Undefined: the host has no directory of them. */
  readonly standingOf?: StandingOf | undefined;
}

/** Changes a run. Returns `done` when the change is to be recorded in the audit log. */
export type Change = (open: OpenRun) => Promise<'done' | 'nothing-to-do'>;

/**
 * Changes a run for a caller. One transaction finds the run within the caller's reach, changes it and records the
 * change. After the commit the executor is notified.
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
    const fact = factAbout(principal, { action, target, at: clock.now(), workspace: open.run.workspace });
    await save(open.run, open.transaction);
    if (outcome === 'done') await recordAudit(fact, open.transaction);
    return open.run;
  });
  executor.onRequest(run);
  return run;
}

/**
 * Makes the error for a run whose status does not permit an operation: `run_terminal` when it has ended, else
 * `run_state_conflict`.
 *
 * @param asked the operation as a past participle, such as `cancelled`
 */
export function conflict({ status, pausedAt }: Run, asked: string): HostError {
  const details = {
    runStatus: status,
    ...(pausedAt !== undefined && { pausedAt: new Date(pausedAt).toISOString() }),
  };
  return isTerminal(status)
    ? new HostError('run_terminal', `The run has ended (${status}), so it cannot be ${asked}.`, { details })
    : new HostError('run_state_conflict', `The run is ${status}, so it cannot be ${asked}.`, { details });
}
