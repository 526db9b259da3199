/**
 * A source of time and timers. The kit reads the time from nowhere else, so that a test can move it.
 *
 * @example
 * let now = Date.UTC(2026, 0, 1);
 * const frozen: Clock = { now: () => now, at: () => () => {} };
 */
export interface Clock {
  /** Returns the current time, in ms since the epoch. */
  now(): number;
  /**
   * Calls `run` once, as soon as `now()` reaches `time`, in ms since the epoch. A time in the past is due at once, but
   * `run` is not called before `at` has returned.
   *
   * @returns cancels the timer; after `run` it does nothing
   */
  at(time: number, run: () => void): () => void;
}

/** The clock of the machine, the default of a host. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  at(time, run) {
    let timer = arm();
    return () => clearTimeout(timer);

    // A timer may fire a fraction early, and one longer than 2^31 - 1 ms would fire at once.
    function arm(): NodeJS.Timeout {
      const wait = Math.min(Math.max(time - Date.now(), 0), LONGEST_TIMER_MS);
      return setTimeout(() => {
        if (Date.now() >= time) run();
        else timer = arm();
      }, wait).unref();
    }
  },
};

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Resolves when `clock` reaches `time`. Rejects with the reason of `signal` as soon as it aborts. */
export function sleepUntil(clock: Clock, time: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.at(time, () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

/** Resolves after `ms` milliseconds. Rejects with the reason of `signal` as soon as it aborts. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return sleepUntil(clock, clock.now() + ms, signal);
}

/**
 * Resolves with true when `work` resolves within `ms` milliseconds, otherwise with false. Rejects when `work` rejects
 * in that time.
 */
export function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = clock.at(clock.now() + ms, () => resolve(false));
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
