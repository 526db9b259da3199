import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import type { StoreClock } from '../ports/store-clock.ts';

export interface ForgetUsesOptions {
  readonly store: Pick<Store, 'versionUses'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly storeClock: Pick<StoreClock, 'read'>;
  /** The time for which the uses of a day are kept, in ms. */
  readonly keptMs: number;
}

/** Returns a periodic task that deletes the uses of majors whose time has passed. */
export function forgetOldUses(options: ForgetUsesOptions): (signal: AbortSignal) => Promise<void> {
  const { store, clock, storeClock, keptMs } = options;
  return async (signal) => {
    // The earlier of two clocks: the clock of one machine that is ahead must not remove anything.
    const before = Math.min(clock.now(), await storeClock.read()) - keptMs;
    for (let forgotten = STEP; forgotten === STEP && !signal.aborted; ) {
      forgotten = await store.versionUses.sweep(before, STEP);
    }
  };
}

const STEP = 1000;
