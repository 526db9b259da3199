import type { Principal } from '@svc/auth';
import type { Clock } from '../ports/clock.ts';
import { type Save, saveNothing } from '../ports/idempotency.ts';
import type { PauseRequest, Run } from '../ports/runs.ts';
import { type Change, changeRun, conflict, type RunServices } from './change-run.ts';
import { pausedEvent } from './host-events.ts';

/**
 * Pauses a run. At once where nothing of it is under way, or where that is to be cut; else as soon as what is under way has ended,
 * which is waited for a second.
 *
 * @param save is called in the transaction that requests the pause, with the run as it stands then
 * @returns the run; it has a `pausedAt` if the pause has come
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
    // What has not been started is paused by its start.
    if (isDue && status === 'running') await open.append(pausedEvent(open.run));
    return 'done';
  };
  const run = await changeRun(options, principal, runId, 'run.pause', pause, save);
  return run.status === 'paused' ? run : pausedSoon(options, principal, run);
}

/** Whichever host drives the run brings the pause, so it is looked for in the store. */
async function pausedSoon({ store, clock }: RunServices, principal: Principal, asked: Run): Promise<Run> {
  for (const end = clock.now() + LONGEST_WAIT_MS; clock.now() < end; ) {
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

function sleep(clock: Clock, timeMs: number): Promise<void> {
  return new Promise((resolve) => clock.at(clock.now() + timeMs, resolve));
}
