import type { Store } from '../ports/store.ts';
import type { StoreClock } from '../ports/store-clock.ts';

/** Returns a periodic task that deletes expired idempotency keys with their replies. */
export function forgetExpiredReplies(
  store: Pick<Store, 'idempotency'>,
  clock: Pick<StoreClock, 'now'>,
): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    for (let forgotten = STEP; forgotten === STEP && !signal.aborted; ) {
      forgotten = await store.idempotency.sweep(clock.now(), STEP);
    }
  };
}

const STEP = 500;
