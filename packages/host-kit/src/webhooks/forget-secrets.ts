import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';

/** A round that deletes the secrets that rotations replaced and that nothing signs with any more. */
export function forgetExpiredSecrets(store: Store, clock: Clock): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    for (let forgotten = STEP; forgotten === STEP && !signal.aborted; ) {
      forgotten = await store.subscriptions.forgetExpiredSecrets(clock.now(), STEP);
    }
  };
}

const STEP = 500;
