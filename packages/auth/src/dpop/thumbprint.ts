import { sha256Base64url } from '#sha256';
import type { JsonObject } from '../jwt/strict-json.ts';

/**
 * Computes the SHA-256 thumbprint of a public key. Returns undefined for a JWK that is no public signature key, or has
 * a private member or a member of another type of key: readers would differ on which key it is.
 *
 * @see RFC 7638, section 3; RFC 9449, section 4.2
 */
export function publicKeyThumbprint(jwk: JsonObject): string | undefined {
  const members = REQUIRED.get(jwk.kty);
  if (members === undefined) return undefined;
  if (KEY_MEMBERS.some((name) => Object.hasOwn(jwk, name) && !members.includes(name))) return undefined;
  const values = members.map((name) => jwk[name]);
  if (!values.every((value) => typeof value === 'string' && MEMBER.test(value))) return undefined;
  // The members are in alphabetical order, and their values need no JSON escapes.
  return sha256Base64url(`{${members.map((name, at) => `"${name}":"${String(values[at])}"`).join(',')}}`);
}

/** The sender of a proof chooses `kty`. A map has no member that it did not get. */
const REQUIRED: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['EC', ['crv', 'kty', 'x', 'y']],
  ['OKP', ['crv', 'kty', 'x']],
  ['RSA', ['e', 'kty', 'n']],
]);
/** The members of every type of key, public and private. @see RFC 7518, section 6; RFC 8037, section 2 */
const KEY_MEMBERS = ['crv', 'x', 'y', 'n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const MEMBER = /^[A-Za-z0-9_-]{1,2048}$/;
