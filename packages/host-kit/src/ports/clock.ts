/**
 * A source of time and timers. The kit reads the time from nowhere else, so that a test can move it.
 *
 * A clock has two times. `now` is the time of the day, which operators and time servers may set forwards and backwards:
 * it is for what is shown, signed or stored. `monotonic` measures waits and ages, and is never set.
 *
 * @example
 * let elapsed = 0;
 * const start = Date.UTC(2026, 0, 1);
 * const frozen: Clock = { now: () => start + elapsed, monotonic: () => elapsed, after: () => () => {} };
 */
export interface Clock {
  /** Returns the time of the day, in ms since the epoch. */
  now(): number;
  /** Returns the time since an arbitrary moment, in ms, as `performance.now` does. It never goes back. */
  monotonic(): number;
  /**
   * Calls `run` once, `ms` milliseconds from now by `monotonic`. 0 or less is due at once, but `run` is not called
   * before `after` has returned.
   *
   * @returns cancels the timer; after `run` it does nothing
   */
  after(ms: number, run: () => void): () => void;
}

/** The clock of the machine, the default of a host. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, run) {
    const end = performance.now() + ms;
    let timer = arm();
    return () => clearTimeout(timer);

    // A timer may fire a fraction early, and one longer than 2^31 - 1 ms would fire at once.
    function arm(): NodeJS.Timeout {
      const wait = Math.min(Math.max(end - performance.now(), 0), LONGEST_TIMER_MS);
      return setTimeout(() => {
        if (performance.now() >= end) run();
        else timer = arm();
      }, wait).unref();
    }
  },
};

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Resolves after `ms` milliseconds. Rejects with the reason of `signal` as soon as it aborts. */
export function sleep(clock: Pick<Clock, 'after'>, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

/**
 * Resolves at `time`, a time of the day in ms since the epoch: when the wait that is left now has passed, or when the
 * clock shows `time` before that. So a clock that is set back does not prolong the wait, and a machine that was
 * suspended, whose monotonic time stood still meanwhile, is not late by more than a minute.
 *
 * Rejects with the reason of `signal` as soon as it aborts.
 */
export async function sleepUntil(clock: Clock, time: number, signal?: AbortSignal): Promise<void> {
  const end = clock.monotonic() + time - clock.now();
  do {
    await sleep(clock, Math.min(end - clock.monotonic(), time - clock.now(), LOOK_AGAIN_MS), signal);
  } while (clock.monotonic() < end && clock.now() < time);
}

/** How often a wait for a time of the day looks whether the clock was set. */
const LOOK_AGAIN_MS = 60_000;

/**
 * Resolves with true when `work` resolves within `ms` milliseconds, otherwise with false. Rejects when `work` rejects
 * in that time.
 */
export function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => resolve(false));
    work.then(
      () => {
        cancel();
        resolve(true);
      },
      (error: unknown) => {
        cancel();
        reject(error);
      },
    );
  });
}

/** Resolves in the next turn of the event loop, so that long work does not hold up everything else. */
export function yieldToLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
