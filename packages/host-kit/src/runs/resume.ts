import type { Principal } from '@svc/auth';
import type { RunEvent } from './event-store.ts';
import { conflict, operate, type RunOperationOptions } from './operation.ts';
import type { Run } from './run.ts';

/**
 * Lets a paused run go on, on this host. A pause that was asked for and has not come is withdrawn.
 *
 * @returns the run, and when it was resumed, if it was paused
 * @throws {HostError} `not_found`, `run_forbidden`, `run_terminal`, `run_state_conflict`
 */
export async function resumeRun(
  options: RunOperationOptions,
  principal: Principal,
  runId: string,
  reason: string | undefined,
): Promise<{ readonly run: Run; readonly resumedAt: number | undefined }> {
  let resumed: RunEvent | undefined;
  const run = await operate(options, principal, runId, 'run.resume', async (open) => {
    const { pauseRequest, ...kept } = open.run;
    if (open.run.status === 'paused') {
      open.set(await options.store.runs.claim(open.run, open.transaction));
      [resumed] = await open.append({ type: 'run.resumed', payload: reason === undefined ? {} : { reason } });
      return 'done';
    }
    if (pauseRequest === undefined) throw conflict(open.run, 'resumed');
    open.set(kept);
    return 'done';
  });
  return { run, resumedAt: resumed?.timestamp };
}
