import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';

/** Makes a periodic task that deletes replaced secrets whose overlap has ended, 500 in a transaction. */
export function forgetExpiredSecrets(store: Store, clock: Clock): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    for (let forgotten = BATCH; forgotten === BATCH && !signal.aborted; ) {
      forgotten = await store.subscriptions.forgetExpiredSecrets(clock.now(), BATCH);
    }
  };
}

const BATCH = 500;
