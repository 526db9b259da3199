import { sha256Base64url } from '#sha256';
import type { JsonObject } from '../jwt/strict-json.ts';

/**
 * Computes the SHA-256 thumbprint of a public key. Returns undefined for a JWK that is no public signature key, or has
 * a private member.
 *
 * @see RFC 7638, section 3; RFC 9449, section 4.2
 */
export function publicKeyThumbprint(jwk: JsonObject): string | undefined {
  const members = REQUIRED[String(jwk.kty)];
  if (members === undefined || PRIVATE.some((name) => Object.hasOwn(jwk, name))) return undefined;
  const values = members.map((name) => jwk[name]);
  if (!values.every((value) => typeof value === 'string' && MEMBER.test(value))) return undefined;
  // The members are in alphabetical order, and their values need no JSON escapes.
  return sha256Base64url(`{${members.map((name, at) => `"${name}":"${String(values[at])}"`).join(',')}}`);
}

const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  EC: ['crv', 'kty', 'x', 'y'],
  OKP: ['crv', 'kty', 'x'],
  RSA: ['e', 'kty', 'n'],
};
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const MEMBER = /^[A-Za-z0-9_-]{1,2048}$/;
