import type { DedupStore } from './dedup.ts';

export interface MemoryDedupOptions {
  /** Deliveries remembered at the most; the oldest is forgotten first. Default 100 000. */
  readonly capacity?: number;
  /** How long a handled delivery is remembered, and how long a claim may last. Default a day. */
  readonly ttlSeconds?: number;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

/** Deduplication within one process. It forgets when the process ends. */
export function memoryDedupStore(options: MemoryDedupOptions = {}): DedupStore {
  const { capacity = 100_000, ttlSeconds = 86_400, now = Date.now } = options;
  if (!Number.isSafeInteger(capacity) || capacity < 1) throw new TypeError('capacity must be a positive integer.');
  if (!(ttlSeconds > 0)) throw new TypeError('ttlSeconds must be a positive number.');
  // A map iterates in the order of insertion, so its first entries are its oldest.
  const entries = new Map<string, { readonly state: 'handled' | 'in-flight'; readonly until: number }>();

  return {
    claim(key) {
      const known = entries.get(key);
      if (known !== undefined && known.until > now()) return known.state;
      remember(key, 'in-flight');
      return 'claimed';
    },
    confirm(key) {
      remember(key, 'handled');
    },
    release(key) {
      entries.delete(key);
    },
  };

  function remember(key: string, state: 'handled' | 'in-flight'): void {
    entries.delete(key);
    entries.set(key, { state, until: now() + ttlSeconds * 1000 });
    for (const [oldest, { until }] of entries) {
      if (entries.size <= capacity && until > now()) break;
      entries.delete(oldest);
    }
  }
}
