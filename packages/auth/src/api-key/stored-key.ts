import type { ApiKeyRecord } from './key-store.ts';

/** An API key as a service stores it: the record that the lane judges, and its history. It never has the key itself. */
export interface StoredApiKey extends ApiKeyRecord {
  /** A name for people: 1 to 128 characters. */
  readonly name: string;
  /** The visible beginning of the key, such as `svc_live_1f2e3d4c`. Empty when the host has never seen the key. */
  readonly prefix: string;
  /** Short texts of the holder, by their names. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The key that this one replaced. Default: none. */
  readonly rotatedFrom?: string | undefined;
  /** The key that replaced this one. Default: none. */
  readonly rotatedTo?: string | undefined;
  /** The end of the key: `now` on every clock, or a `grace` that ends at `revokedAt`. Default: the key has not ended. */
  readonly ended?: 'now' | 'grace' | undefined;
  /** The party that ended the key. A configuration can bring back only a key that it removed. Default: neither. */
  readonly endedBy?: 'operation' | 'configuration' | undefined;
  /** `configuration`: imported from the configuration of a host, which changes it at every start. */
  readonly source: 'operation' | 'configuration';
  /** Milliseconds since the epoch, written late. Default: never used. */
  readonly lastUsedAt?: number | undefined;
}

/**
 * Returns the record that a lane judges. A key that was revoked now is revoked at every time, so that a host whose clock
 * is behind refuses it too.
 *
 * @example
 * const records = stored.map(judgedRecord);
 */
export function judgedRecord(key: StoredApiKey): ApiKeyRecord {
  return key.ended === 'now' ? { ...key, revokedAt: 0 } : key;
}

/** The state of a key at a time. */
export type ApiKeyState = 'active' | 'expired' | 'revoked';

/**
 * Returns the state of a key. A key in its grace period is active.
 *
 * @param now milliseconds since the epoch
 * @example
 * if (apiKeyState(key, Date.now()) === 'active') console.log(key.name);
 */
export function apiKeyState(
  { ended, revokedAt, expiresAt }: Pick<StoredApiKey, 'ended' | 'revokedAt' | 'expiresAt'>,
  now: number,
): ApiKeyState {
  if (ended === 'now' || (revokedAt !== undefined && now >= revokedAt)) return 'revoked';
  return expiresAt !== undefined && now >= expiresAt ? 'expired' : 'active';
}

/**
 * Returns the visible beginning of a minted key, by which people recognise it: 32 of its 256 random bits. A key of
 * another form shows nothing.
 *
 * @example
 * keyPrefix(key); // 'svc_live_1f2e3d4c'
 */
export function keyPrefix(key: string): string {
  return /^svc_(?:live|test)_[0-9a-f]{72}$/.test(key) ? key.slice(0, SHOWN) : '';
}

const SHOWN = 'svc_live_'.length + 8;
