import type { Principal } from '@svc/auth';
import { sleep } from '../ports/clock.ts';
import { type Save, saveNothing } from '../ports/idempotency.ts';
import type { PauseRequest, Run } from '../ports/runs.ts';
import { type Change, changeRun, conflict, type RunServices } from './change-run.ts';
import { pausedEvent } from './host-events.ts';

/**
 * Pauses a run: at once when no node is open or with the policy `immediate`, otherwise as soon as its open nodes have
 * ended. Waits up to 1 s for such a pause.
 *
 * @param save is called in the transaction that requests the pause, with the run as it stands then
 * @returns the run, with `pausedAt` if it is paused by now
 * @throws {HostError} `not_found`, `run_forbidden`, `run_terminal`, `run_state_conflict`
 */
export async function pauseRun(
  options: RunServices,
  principal: Principal,
  runId: string,
  request: PauseRequest,
  save: Save<Run> = saveNothing,
): Promise<Run> {
  const pause: Change = async (open) => {
    const { status, openNodes } = open.run;
    if (status !== 'running' && status !== 'pending') throw conflict(open.run, 'paused');
    open.set({ ...open.run, pauseRequest: request });
    const isDue = request.drainPolicy === 'immediate' || openNodes === undefined;
    // A run that is still pending is paused when it starts.
    if (isDue && status === 'running') await open.append(pausedEvent(open.run));
    return 'done';
  };
  const run = await changeRun(options, principal, runId, 'run.pause', pause, save);
  return run.status === 'paused' ? run : pausedSoon(options, principal, run);
}

/** Polls the store, because the host that executes the run may be another one. */
async function pausedSoon({ store, clock }: RunServices, principal: Principal, asked: Run): Promise<Run> {
  for (const end = clock.monotonic() + LONGEST_WAIT_MS; clock.monotonic() < end; ) {
    await sleep(clock, LOOK_EVERY_MS);
    const lookup = await store.runs.read(principal.tenancy, asked.runId);
    if (lookup.kind !== 'found' || lookup.value.pauseRequest === undefined) {
      return lookup.kind === 'found' ? lookup.value : asked;
    }
  }
  return asked;
}

const LONGEST_WAIT_MS = 1000;
const LOOK_EVERY_MS = 25;
