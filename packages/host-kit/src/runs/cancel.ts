import type { Principal } from '@svc/auth';
import { cancelledEvents } from './host-events.ts';
import { operate, type RunOperationOptions } from './operation.ts';
import type { Run } from './run.ts';
import { isExecutable, isTerminal } from './transitions.ts';

/**
 * Cancels a run. One that waits or is paused is cancelled at once; one that is driven is asked to come to its end, and has one within
 * five seconds. To cancel again changes nothing, nor does it of a run that has ended: its status tells.
 *
 * @throws {HostError} `not_found`, `run_forbidden`
 */
export async function cancelRun(
  options: RunOperationOptions,
  principal: Principal,
  runId: string,
  reason: string | undefined,
): Promise<{ readonly run: Run; readonly hadEnded: boolean }> {
  const { clock } = options;
  let hadEnded = false;
  const run = await operate(options, principal, runId, 'run.cancel', async (open) => {
    const { status } = open.run;
    hadEnded = isTerminal(status);
    if (hadEnded || status === 'cancelling') return 'nothing-to-do';
    const at = clock.now();
    open.signal('cancel-requested', {
      cancelRequest: { ...(reason !== undefined && { reason }), by: principal.id, at },
    });
    if (!isExecutable(status)) await open.append(...cancelledEvents(open.run, at));
    return 'done';
  });
  return { run, hadEnded };
}
