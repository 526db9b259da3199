import type { Clock } from '@svc/host-kit';

/** A clock that stands still until a test moves it: on a slow machine no deadline of the host passes by itself. */
export interface ManualClock extends Clock {
  /** Moves the time by `ms` and runs the timers that become due, in the order of their times. */
  advance(ms: number): void;
  /** Sets the time of the day by `ms`. The monotonic time and the timers do not notice it. */
  set(ms: number): void;
}

interface Timer {
  readonly due: number;
  readonly run: () => void;
}

export function manualClock(start = Date.now()): ManualClock {
  let time = 1_000_000;
  let ahead = start - time;
  const timers = new Set<Timer>();

  return {
    now: () => time + ahead,
    monotonic: () => time,
    set(ms) {
      ahead += ms;
    },
    after(ms, run) {
      const due = time + ms;
      // As on the clock of the machine, a timer that is due at once runs by itself, but not before its caller goes on.
      if (due <= time) {
        const immediate = setImmediate(run);
        return () => clearImmediate(immediate);
      }
      const timer: Timer = { due, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      const until = time + ms;
      for (let next = firstBy(until); next !== undefined; next = firstBy(until)) {
        timers.delete(next);
        time = next.due;
        next.run();
      }
      time = until;
    },
  };

  function firstBy(until: number): Timer | undefined {
    const due = [...timers].filter((timer) => timer.due <= until);
    return due.reduce<Timer | undefined>(
      (first, timer) => (first && first.due <= timer.due ? first : timer),
      undefined,
    );
  }
}
