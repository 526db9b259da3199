import type { Principal } from '@svc/auth';
import type { RunEvent } from '../ports/events.ts';
import { type Save, saveNothing } from '../ports/idempotency.ts';
import type { Run } from '../ports/runs.ts';
import { type Change, changeRun, conflict, type RunServices } from './change-run.ts';

/** The run after a request to resume. */
export interface Resumed {
  readonly run: Run;
  /** In ms since the epoch; undefined when the request withdrew a pause before it took effect. */
  readonly resumedAt: number | undefined;
}

/**
 * Resumes a paused run on this host. Withdraws a requested pause that has not taken effect.
 *
 * @param save is called in the transaction of the change
 * @throws {HostError} `not_found`, `run_forbidden`, `run_terminal`, `run_state_conflict`
 */
export async function resumeRun(
  options: RunServices,
  principal: Principal,
  runId: string,
  reason: string | undefined,
  save: Save<Resumed> = saveNothing,
): Promise<Resumed> {
  let resumed: RunEvent | undefined;
  const resume: Change = async (open) => {
    // A store may retry the transaction: nothing of the first attempt may remain.
    resumed = undefined;
    const { pauseRequest, ...kept } = open.run;
    if (open.run.status === 'paused') {
      open.set(await options.store.runs.claim(open.run, open.transaction));
      [resumed] = await open.append({ type: 'run.resumed', payload: reason === undefined ? {} : { reason } });
      return 'done';
    }
    if (pauseRequest === undefined) throw conflict(open.run, 'resumed');
    open.set(kept);
    return 'done';
  };
  const run = await changeRun(options, principal, runId, 'run.resume', resume, (after, transaction) =>
    save({ run: after, resumedAt: resumed?.timestamp }, transaction),
  );
  return { run, resumedAt: resumed?.timestamp };
}
