import type { ReplayStore } from './replay-store.ts';

export interface MemoryReplayStoreOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Proofs remembered at the most; while it is full no new one is taken. Default 100 000. */
  readonly maxEntries?: number;
}

/**
 * Remembers proofs in one process, each until it would be too old anyway.
 *
 * @throws {TypeError} for an option that cannot be right
 * @example
 * const replays = memoryReplayStore({ now: Date.now });
 */
export function memoryReplayStore({ now, maxEntries = 100_000 }: MemoryReplayStoreOptions): ReplayStore {
  if (!Number.isSafeInteger(maxEntries) || maxEntries < 1) {
    throw new TypeError('memoryReplayStore: maxEntries must be a whole number, at least 1.');
  }
  const expiries = new Map<string, number>();
  return {
    claim(id, expiresAt) {
      const time = now();
      const known = expiries.get(id);
      if (known !== undefined && !(known < time)) return false;
      // Entries are in the order of their coming, which is nearly that of their going.
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
