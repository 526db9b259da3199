import type { Clock } from '../clock.ts';

/** One timer for whatever is due next. */
export interface Alarm {
  /** It rings by that time. When it is set for earlier it stays as it is, so that setting it often costs nothing. */
  ringBy(time: number): void;
  cancel(): void;
}

export function alarm(clock: Clock, ring: () => void): Alarm {
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
