import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/**
 * Makes opaque ids from the subjects of identity providers, which may be e-mail addresses. The same subject of the same
 * issuer gets the same id. Without the secret no id leads back to a person, not even by trying names.
 *
 * @param secret at least 32 bytes. A new secret gives every person a new id.
 * @throws {TypeError} when `secret` is shorter
 * @example
 * const principalOf = pseudonyms(secret);
 * const issuer = { issuer: 'https://idp.example.com', audience: 'svc', profile: 'user', principalOf };
 * @see Interface: Run owner (identity triple)
 */
export function pseudonyms(secret: Uint8Array): (issuer: string, subject: string) => string {
  if (!(secret instanceof Uint8Array) || secret.length < 32) {
    throw new TypeError('pseudonyms: secret must be a Uint8Array of at least 32 bytes.');
  }
  const key = secret.slice();
  const pseudonymOf = (issuer: string, subject: string) => {
    const text = JSON.stringify(['svc principal', issuer, subject]);
    return `p_${bytesToHex(hmac(sha256, key, utf8ToBytes(text))).slice(0, 40)}`;
  };
  MADE.add(pseudonymOf);
  return pseudonymOf;
}

/** Returns whether a function was made by `pseudonyms`, which always gives the same subject the same id. */
export function isPseudonym(principalOf: (issuer: string, subject: string) => string): boolean {
  return MADE.has(principalOf);
}

const MADE = new WeakSet<(issuer: string, subject: string) => string>();
