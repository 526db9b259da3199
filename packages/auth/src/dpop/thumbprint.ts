import { sha256Base64url } from '#sha256';
import type { JsonObject } from '../jwt/strict-json.ts';

/**
 * The SHA-256 thumbprint of a public key, or undefined for what is none that can sign: secret and private members are none of a
 * public key.
 *
 * @see RFC 7638, section 3; RFC 9449, section 4.2
 */
export function publicKeyThumbprint(jwk: JsonObject): string | undefined {
  const members = REQUIRED[String(jwk.kty)];
  if (members === undefined || PRIVATE.some((name) => Object.hasOwn(jwk, name))) return undefined;
  const values = members.map((name) => jwk[name]);
  if (!values.every((value) => typeof value === 'string' && MEMBER.test(value))) return undefined;
  // In the order of the alphabet, and of characters that JSON writes as they are.
  return sha256Base64url(`{${members.map((name, at) => `"${name}":"${String(values[at])}"`).join(',')}}`);
}

const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  EC: ['crv', 'kty', 'x', 'y'],
  OKP: ['crv', 'kty', 'x'],
  RSA: ['e', 'kty', 'n'],
};
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const MEMBER = /^[A-Za-z0-9_-]{1,2048}$/;
