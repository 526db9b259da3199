import type { Principal } from '@svc/auth';
import { type Save, saveNothing } from '../ports/idempotency.ts';
import { isExecutable, isTerminal, type Run } from '../ports/runs.ts';
import { type Change, changeRun, type RunServices } from './change-run.ts';
import { cancelledEvents } from './host-events.ts';

/** The run after a request to cancel. */
export interface Cancelled {
  readonly run: Run;
  /** True: the run had ended before the request, which changed nothing. */
  readonly hadEnded: boolean;
}

/**
 * Cancels a run. A waiting or paused run is cancelled at once. A run that a host executes becomes `cancelling` and ends
 * within 5 s. A run that is already cancelling or has ended does not change.
 *
 * @param save is called in the transaction of the change
 * @throws {HostError} `not_found`, `run_forbidden`
 */
export async function cancelRun(
  options: RunServices,
  principal: Principal,
  runId: string,
  { reason, keyName }: { readonly reason: string | undefined; readonly keyName?: string | undefined },
  save: Save<Cancelled> = saveNothing,
): Promise<Cancelled> {
  const { clock } = options;
  let hadEnded = false;
  const cancel: Change = async (open) => {
    const { status } = open.run;
    hadEnded = isTerminal(status);
    if (hadEnded || status === 'cancelling') return 'nothing-to-do';
    const at = clock.now();
    open.signal('cancel-requested', {
      cancelRequest: {
        ...(reason !== undefined && { reason }),
        by: principal.id,
        at,
        ...(keyName !== undefined && { keyName }),
      },
    });
    if (!isExecutable(status)) await open.append(...cancelledEvents(open.run, at));
    return 'done';
  };
  const run = await changeRun(options, principal, runId, 'run.cancel', cancel, (cancelled, transaction) =>
    save({ run: cancelled, hadEnded }, transaction),
  );
  return { run, hadEnded };
}
