/** Time as the engine room sees it. A simulation supplies its own; nothing in the kit reads the system clock elsewhere. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `run` once, as soon as `now()` has reached `time`. Returns a function that calls it off. */
  at(time: number, run: () => void): () => void;
}

/** The machine's own clock. Its timers do not keep the process alive. */
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
