import { type OptionNames, requireKnown } from '../known-options.ts';
import { DEDUP_OPTIONS, type DedupOptions, dedupTimes, type ProlongingDedupStore } from './dedup.ts';

/** The options of {@link memoryDedupStore}. */
export interface MemoryDedupOptions extends DedupOptions {
  /** The largest number of remembered deliveries; the oldest is forgotten first. Default 100 000. */
  readonly capacity?: number;
}

const MEMORY_OPTIONS: OptionNames<MemoryDedupOptions> = { ...DEDUP_OPTIONS, capacity: true };

/**
 * Makes a dedup store in the memory of one process. Its content is lost when the process ends.
 *
 * @throws {TypeError} when a time or the capacity is not positive
 * @example
 * import { memoryDedupStore } from '@svc/webhook-verify/dedup/memory';
 * import { receive } from '@svc/webhook-verify/receive';
 *
 * const secret = process.env.WEBHOOK_SECRET;
 * const handle = receive({ secret, dedup: memoryDedupStore(), onDelivery: ({ runId }) => console.log(runId) });
 */
export function memoryDedupStore(options: MemoryDedupOptions = {}): ProlongingDedupStore {
  requireKnown('memoryDedupStore', options, MEMORY_OPTIONS);
  const { capacity = 100_000, now = () => performance.now() } = options;
  const { ttlMs, claimMs } = dedupTimes(options);
  if (!Number.isSafeInteger(capacity) || capacity < 1) {
    throw new TypeError('capacity: must be a positive integer. Leave it out for 100 000.');
  }
  // A map iterates in the order of insertion, so its first entries are its oldest.
  const entries = new Map<string, { readonly token: string | undefined; readonly until: number }>();
  let claims = 0;

  return {
    claim(key) {
      const known = entries.get(key);
      if (known !== undefined && known.until > now()) {
        if (known.token === undefined) return { state: 'handled' };
        return { state: 'in-flight', secondsLeft: (known.until - now()) / 1000 };
      }
      claims += 1;
      const token = String(claims);
      remember(key, token, now() + claimMs);
      return { state: 'claimed', token, claimSeconds: claimMs / 1000 };
    },
    confirm(key, token) {
      const known = entries.get(key);
      const isFree = known === undefined || known.until <= now();
      if (isFree || known.token === token) remember(key, undefined, now() + ttlMs);
    },
    release(key, token) {
      if (entries.get(key)?.token === token) entries.delete(key);
    },
    prolong(key, token) {
      if (entries.get(key)?.token !== token) return false;
      remember(key, token, now() + claimMs);
      return true;
    },
  };

  function remember(key: string, token: string | undefined, until: number): void {
    entries.delete(key);
    entries.set(key, { token, until });
    for (const [oldest, { until }] of entries) {
      if (entries.size <= capacity && until > now()) break;
      entries.delete(oldest);
    }
  }
}
