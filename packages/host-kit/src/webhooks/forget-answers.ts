import type { Store } from '../ports/store.ts';
import type { StoreClock } from '../ports/store-clock.ts';

/** Returns a periodic task that deletes captured answers whose time has passed. */
export function forgetExpiredAnswers(
  store: Pick<Store, 'capturedAnswers'>,
  storeClock: Pick<StoreClock, 'read'>,
): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    const now = await storeClock.read();
    for (let forgotten = STEP; forgotten === STEP && !signal.aborted; ) {
      forgotten = await store.capturedAnswers.sweep(now, STEP);
    }
  };
}

const STEP = 500;
