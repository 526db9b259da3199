import { requireKnown } from '../known-options.ts';
import { REPLAY_STORE_OPTIONS, ReplayCapacity } from './capacity.ts';
import type { ReplayStore, ReplayStoreOptions } from './replay-store.ts';

/**
 * Makes a replay store in the memory of one process. It forgets a proof when the proof is too old to be accepted, and
 * all proofs when the process ends.
 *
 * @throws {TypeError} when a clock is not a function, or `maxEntries` is not a whole number of at least 1
 * @example
 * const replays = memoryReplayStore();
 */
export function memoryReplayStore(options: ReplayStoreOptions = {}): ReplayStore {
  requireKnown('memoryReplayStore', options, REPLAY_STORE_OPTIONS);
  const capacity = new ReplayCapacity('memoryReplayStore', options, options.maxEntries ?? 100_000);
  const expiries = new Map<string, number>();
  /** The ids that expire in a second. */
  const bySecond = new Map<number, string[]>();
  const expired: string[][] = [];
  let sweptAt = Number.NEGATIVE_INFINITY;

  return {
    claim(id, expiresAt) {
      const horizon = capacity.horizon();
      forget(horizon);
      const known = expiries.get(id);
      if (known !== undefined && !(known < horizon)) return 'seen';
      if (capacity.room(horizon) === 0) {
        capacity.tellFull();
        return 'full';
      }
      capacity.add(expiresAt);
      expiries.set(id, expiresAt);
      const second = Math.floor(expiresAt / 1000);
      const ids = bySecond.get(second);
      if (ids === undefined) bySecond.set(second, [id]);
      else ids.push(id);
      return 'fresh';
    },
  };

  /** Removes a few expired proofs at each claim, and always more than one claim adds. */
  function forget(horizon: number): void {
    const second = Math.floor(horizon / 1000);
    if (second !== sweptAt) {
      sweptAt = second;
      for (const [expiry, ids] of bySecond) {
        if (!(expiry < second)) continue;
        bySecond.delete(expiry);
        expired.push(ids);
      }
    }
    for (let left = FORGOTTEN_AT_ONCE; left > 0; left--) {
      const ids = expired.at(-1);
      if (ids === undefined) return;
      const id = ids.pop();
      if (id === undefined) expired.pop();
      // An id may have been claimed again meanwhile.
      else if ((expiries.get(id) ?? Number.POSITIVE_INFINITY) < horizon) expiries.delete(id);
    }
  }
}

const FORGOTTEN_AT_ONCE = 32;
