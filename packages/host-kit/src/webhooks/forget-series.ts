import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import type { StoreClock } from '../ports/store-clock.ts';

export interface ForgetSeriesOptions {
  readonly store: Pick<Store, 'deliverySeries'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly storeClock: Pick<StoreClock, 'read'>;
  /** The time for which a minute is kept, in ms. */
  readonly keptMs: number;
}

/** Returns a periodic task that deletes the minutes of delivery series whose time has passed. */
export function forgetOldSeries(options: ForgetSeriesOptions): (signal: AbortSignal) => Promise<void> {
  const { store, clock, storeClock, keptMs } = options;
  return async (signal) => {
    // The earlier of two clocks: the clock of one machine that is ahead must not remove anything.
    const before = Math.min(clock.now(), await storeClock.read()) - keptMs;
    for (let forgotten = STEP; forgotten === STEP && !signal.aborted; ) {
      forgotten = await store.deliverySeries.sweep(before, STEP);
    }
  };
}

const STEP = 1000;
