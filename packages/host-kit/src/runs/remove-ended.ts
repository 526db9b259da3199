import { inSteps } from '../in-steps.ts';
import type { HostPorts } from '../ports/host-ports.ts';

/** The number of records that one step removes, so that other transactions never wait for long. */
const STEP = 200;

export interface RemoveEndedOptions extends Pick<HostPorts, 'store' | 'clock'> {
  /** Runs that ended before are removed, in ms since the epoch. */
  readonly endedBefore: number;
}

/** The number of removed runs, and of the records that were deleted with them: events, artifacts and the like. */
export interface RemovedRuns {
  readonly runs: number;
  readonly runRecords: number;
}

/** Removes the runs that ended before a time, with the records of these runs and of those that an earlier call has left. */
export async function removeEndedRuns(
  { store, clock, endedBefore }: RemoveEndedOptions,
  signal: AbortSignal,
): Promise<RemovedRuns> {
  const { runs } = store;
  let removed = 0;
  const runRecords = await inSteps(clock, signal, async () => {
    const swept = await runs.sweep(STEP);
    if (swept > 0) return swept;
    const ended = await runs.removeEnded({ endedBefore, limit: STEP });
    removed += ended;
    return ended;
  });
  return { runs: removed, runRecords: runRecords - removed };
}
