import { type OptionNames, requireKnown } from '../known-options.ts';
import type { ReplayStore } from './replay-store.ts';

/** Options of `memoryReplayStore`. */
export interface MemoryReplayStoreOptions {
  /** Milliseconds since the epoch, e.g. `Date.now`. */
  readonly now: () => number;
  /** Most proofs in memory. A full store accepts no new proof. Default 100 000. */
  readonly maxEntries?: number;
}

const MEMORY_REPLAY_STORE_OPTIONS: OptionNames<MemoryReplayStoreOptions> = { now: true, maxEntries: true };

/**
 * Makes a replay store in the memory of one process. It forgets a proof when the proof is too old to be accepted.
 *
 * @throws {TypeError} when `maxEntries` is not a whole number, at least 1
 * @example
 * const replays = memoryReplayStore({ now: Date.now });
 */
export function memoryReplayStore(options: MemoryReplayStoreOptions): ReplayStore {
  requireKnown('memoryReplayStore', options, MEMORY_REPLAY_STORE_OPTIONS);
  const { now, maxEntries = 100_000 } = options;
  if (!Number.isSafeInteger(maxEntries) || maxEntries < 1) {
    throw new TypeError('memoryReplayStore: maxEntries must be a whole number, at least 1.');
  }
  const expiries = new Map<string, number>();
  return {
    claim(id, expiresAt) {
      const time = now();
      const known = expiries.get(id);
      if (known !== undefined && !(known < time)) return false;
      // Insertion order is nearly the order of expiry, so the sweep stops at the first live entry.
      for (const [old, expiry] of expiries) {
        if (!(expiry < time)) break;
        expiries.delete(old);
      }
      if (expiries.size >= maxEntries) return false;
      expiries.delete(id);
      expiries.set(id, expiresAt);
      return true;
    },
  };
}
