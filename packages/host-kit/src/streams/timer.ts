import type { Clock } from '../ports/clock.ts';

/** One timer for whatever is due next. */
export interface Timer {
  /** It rings by that time. When it is set for earlier it stays as it is, so that setting it often costs nothing. */
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
      cancel = clock.at(time, () => {
        setFor = Number.POSITIVE_INFINITY;
        ring();
      });
    },
    cancel: () => cancel(),
  };
}
