import type { Clock } from '../ports/clock.ts';

/** One timer for the earliest of several deadlines. */
export interface Timer {
  /**
   * Makes the timer ring at `time`, in ms of the monotonic clock, or earlier: a timer that is set for an earlier time stays as
   * it is.
   */
  ringBy(time: number): void;
  cancel(): void;
}

export function newTimer(clock: Clock, ring: () => void): Timer {
  let setFor = Number.POSITIVE_INFINITY;
  let cancel = (): void => {};

  return {
    ringBy(time) {
      if (time >= setFor) return;
      cancel();
      setFor = time;
      cancel = clock.after(time - clock.monotonic(), () => {
        setFor = Number.POSITIVE_INFINITY;
        ring();
      });
    },
    cancel: () => cancel(),
  };
}
