import { type OptionNames, requireKnown } from '../known-options.ts';
import { type MintedKey, mintApiKey } from './format.ts';
import { type ApiKeyRecord, checkedApiKeyRecord } from './key-store.ts';

/** Options of `rotateApiKey`. */
export interface RotateApiKeyOptions {
  /** The id of the new key. It differs from the old one. */
  readonly id: string;
  /** Grace period in seconds, 0 or more, in which the old key stays valid. At least a day is usual. */
  readonly graceSeconds: number;
  /** Expiry of the new key in milliseconds since the epoch. Default: never. */
  readonly expiresAt?: number;
  /** The current time in milliseconds since the epoch. */
  readonly now: number;
  /** A cryptographic source, e.g. `(size) => crypto.getRandomValues(new Uint8Array(size))`. */
  readonly randomBytes: (size: number) => Uint8Array;
}

const ROTATE_API_KEY_OPTIONS: OptionNames<RotateApiKeyOptions> = {
  id: true,
  graceSeconds: true,
  expiresAt: true,
  now: true,
  randomBytes: true,
};

/** A new key and the two records to store. */
export interface RotatedApiKey {
  /** The new key. Show it to its holder once and never store it. */
  readonly key: MintedKey['key'];
  /** The record of the new key. */
  readonly replacement: ApiKeyRecord;
  /** Replaces the record of the old key: it is revoked at the end of the grace period. */
  readonly retired: ApiKeyRecord;
}

/**
 * Replaces a key. During the grace period both keys are the same principal with the same tenancy and scopes. After it
 * the old key is refused with `key_revoked`. An earlier expiry or revocation of the old key stays in force.
 *
 * @throws {TypeError} when `graceSeconds` is not a duration, `id` is the old id, or the old key is revoked or expired
 * @example
 * const options = { id: 'key_2', graceSeconds: 86_400, now: Date.now(), randomBytes };
 * const { key, replacement, retired } = rotateApiKey(record, options);
 * @see Interface: Audit logging (key rotation)
 */
export function rotateApiKey(record: ApiKeyRecord, options: RotateApiKeyOptions): RotatedApiKey {
  requireKnown('rotateApiKey', options, ROTATE_API_KEY_OPTIONS);
  const { id, graceSeconds, expiresAt, now, randomBytes } = options;
  if (!(graceSeconds >= 0 && Number.isFinite(graceSeconds))) {
    throw new TypeError('rotateApiKey: graceSeconds must be a finite number, 0 or more.');
  }
  if (id === record.id) throw new TypeError('rotateApiKey: id must differ from the id of the old key.');
  const ends = [record.revokedAt, record.expiresAt].filter((end) => end !== undefined);
  if (ends.some((end) => !(now < end)))
    throw new TypeError(`rotateApiKey: key ${record.id} is revoked or expired. Mint a new key.`);
  const { key, hash } = mintApiKey({ mode: record.mode, randomBytes });
  // A rotation renews no quota: both keys draw on one count.
  const quota = record.quota && { ...record.quota, account: record.quota.account ?? record.id };
  const revokedAt = Math.min(now + graceSeconds * 1000, record.revokedAt ?? Number.POSITIVE_INFINITY);
  return {
    key,
    replacement: checkedApiKeyRecord({ ...record, id, hash, expiresAt, revokedAt: undefined, quota }),
    retired: checkedApiKeyRecord({ ...record, revokedAt }),
  };
}
