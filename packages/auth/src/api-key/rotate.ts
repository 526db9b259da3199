import { type MintedKey, mintApiKey } from './format.ts';
import { type ApiKeyRecord, checkedApiKeyRecord } from './key-store.ts';

export interface RotateApiKeyOptions {
  /** The id of the new key. */
  readonly id: string;
  /** How long the old key goes on beside the new one. A day at least is usual. */
  readonly graceSeconds: number;
  /** When the new key expires, in milliseconds since the epoch. Default: never. */
  readonly expiresAt?: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** A cryptographic source, e.g. `(size) => crypto.getRandomValues(new Uint8Array(size))`. */
  readonly randomBytes: (size: number) => Uint8Array;
}

export interface RotatedApiKey {
  /** Shown to its holder once and never stored. */
  readonly key: MintedKey['key'];
  /** To be stored as a new record. */
  readonly replacement: ApiKeyRecord;
  /** To be stored in place of the old record: it is revoked when the grace is over. */
  readonly retired: ApiKeyRecord;
}

/**
 * Replaces a key. Through the grace both keys are the same principal with the same tenancy and scopes; then the old one answers
 * `key_revoked`. An end that the old key already has is never put off.
 *
 * @throws {TypeError} for a grace that is no duration, an id that is the old one's, or a key that has ended
 * @example
 * const { key, replacement, retired } = rotateApiKey(record, { id: 'key_2', graceSeconds: 86_400, now: Date.now(), randomBytes });
 * @see Interface: Audit logging (key rotation)
 */
export function rotateApiKey(record: ApiKeyRecord, options: RotateApiKeyOptions): RotatedApiKey {
  const { id, graceSeconds, expiresAt, now, randomBytes } = options;
  if (!(graceSeconds >= 0 && Number.isFinite(graceSeconds))) {
    throw new TypeError('rotateApiKey: graceSeconds must be a finite number, 0 or more.');
  }
  if (id === record.id) throw new TypeError('rotateApiKey: id must differ from the id of the old key.');
  const ends = [record.revokedAt, record.expiresAt].filter((end) => end !== undefined);
  if (ends.some((end) => !(now < end)))
    throw new TypeError(`rotateApiKey: key ${record.id} is revoked or expired. Mint a new key.`);
  const { key, hash } = mintApiKey({ mode: record.mode, randomBytes });
  const revokedAt = Math.min(now + graceSeconds * 1000, record.revokedAt ?? Number.POSITIVE_INFINITY);
  return {
    key,
    replacement: checkedApiKeyRecord({ ...record, id, hash, expiresAt, revokedAt: undefined }),
    retired: checkedApiKeyRecord({ ...record, revokedAt }),
  };
}
