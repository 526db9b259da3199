import { type Clock, sleep, yieldToLoop } from './ports/clock.ts';

/**
 * Repeats a step until it has nothing left to do, or `signal` aborts. After each step it pauses for as long as the step
 * took, so that other users of the store get at least half of the time.
 *
 * @param step does one bounded step, and returns the number of records that it dealt with; 0 when none is left
 * @returns the number of records in all
 */
export async function inSteps(clock: Clock, signal: AbortSignal, step: () => Promise<number>): Promise<number> {
  let all = 0;
  while (!signal.aborted) {
    const began = clock.monotonic();
    const count = await step();
    if (count === 0) return all;
    all += count;
    const tookMs = Math.min(clock.monotonic() - began, LONGEST_PAUSE_MS);
    if (tookMs > 0) await sleep(clock, tookMs, signal).catch(() => {});
    else await yieldToLoop();
  }
  return all;
}

const LONGEST_PAUSE_MS = 1000;
