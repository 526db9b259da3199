import { isStanding, type KeyQuota, periodAt, quotaCountName, type StoredApiKey } from '@svc/auth/api-key';
import type { Store } from '../ports/store.ts';

/** The use of the quota of a key. */
export interface QuotaUse {
  /** Requests in this period, as hosts have told so far. */
  readonly used: number;
  /** The beginning of the next period, in ms since the epoch. */
  readonly renewsAt: number;
}

/** Returns the use of the quota of a key. Undefined: it has no quota. */
export type QuotaUses = (key: StoredApiKey) => QuotaUse | undefined;

/** Reads the uses of the quotas of keys, in one query. */
export async function quotaUses(
  { apiKeys }: Pick<Store, 'apiKeys'>,
  keys: readonly StoredApiKey[],
  now: number,
): Promise<QuotaUses> {
  const names = new Set(keys.flatMap((key) => (key.quota === undefined ? [] : [countOf(key, key.quota)])));
  const counts = names.size === 0 ? new Map() : await apiKeys.quotaCounts([...names]);
  return (key) => {
    if (key.quota === undefined) return undefined;
    const { period } = key.quota;
    const span = periodAt(period, now);
    const count = counts.get(countOf(key, key.quota));
    const used = count !== undefined && isStanding(count, period, span) ? count.used : 0;
    return { used, renewsAt: span.endsAt };
  };
}

function countOf(key: StoredApiKey, { period }: KeyQuota): string {
  return quotaCountName({ account: accountOf(key), period });
}

/** The id of the key with which the requests of a key are counted. */
export function accountOf({ id, quota }: Pick<StoredApiKey, 'id' | 'quota'>): string {
  return quota?.account ?? id;
}
