import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';

/**
 * Returns a periodic task that deletes effects, with their results, some time after their last change.
 *
 * @param keptMs in ms. The interface demands 14 days at least
 */
export function forgetOldEffects(
  store: Pick<Store, 'effects'>,
  clock: Clock,
  keptMs: number,
): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    for (let forgotten = STEP; forgotten === STEP && !signal.aborted; ) {
      forgotten = await store.effects.sweep(clock.now() - keptMs, STEP);
    }
  };
}

const STEP = 500;
