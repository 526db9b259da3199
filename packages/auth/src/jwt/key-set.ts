import { type CryptoKey, importJWK } from 'jose';
import { type Algorithm, keyTypeOf } from './algorithms.ts';
import { isObject, type JsonObject } from './strict-json.ts';

/** Where the public keys of an issuer come from. */
export interface KeySource {
  /**
   * The one key that fits, or undefined when none does, or more than one.
   *
   * @throws when the keys cannot be had: an outage, which says nothing about the token
   */
  find(wanted: WantedKey): CryptoKey | undefined | Promise<CryptoKey | undefined>;
}

export interface WantedKey {
  readonly algorithm: Algorithm;
  /** Undefined in a token that names no key: then only one may fit. */
  readonly keyId: string | undefined;
}

/** A JSON Web Key Set, or anything that claims to be one. */
export interface JsonWebKeySet {
  readonly keys: readonly object[];
}

/**
 * Keys that are given, and never change.
 *
 * @throws {TypeError} for what is no key set, or has no key that can verify
 * @example
 * const keys = localKeys({ keys: [publicJwk] });
 * @see RFC 7517, section 5
 */
export function localKeys(keySet: JsonWebKeySet): KeySource {
  const usable = usableKeys(keySet);
  if (usable === undefined)
    throw new TypeError('localKeys: keySet.keys must be 1 to 100 JWKs, at least one of them a public signature key.');
  return usable;
}

/** The keys of a set that can verify; undefined for what is no set, has none, or has more than anyone needs. */
export function usableKeys(keySet: unknown): KeySource | undefined {
  const listed = isObject(keySet) && Array.isArray(keySet.keys) ? keySet.keys.filter(isObject) : [];
  const usable = listed.filter(verifies).map((jwk) => ({ jwk, imported: new Map<Algorithm, Importing>() }));
  if (usable.length === 0 || listed.length > MAX_KEYS) return undefined;
  return {
    find({ algorithm, keyId }) {
      const fitting = usable.filter(({ jwk }) => fits(jwk, algorithm) && (keyId === undefined || jwk.kid === keyId));
      const [found, ...others] = fitting;
      if (found === undefined || others.length > 0) return undefined;
      const known = found.imported.get(algorithm);
      if (known !== undefined) return known.key ?? known.promise;
      // A key that cannot be read verifies nothing; that is no outage.
      const promise = importPublic(found.jwk, algorithm).catch(() => undefined);
      const importing: Importing = { promise, key: undefined };
      found.imported.set(algorithm, importing);
      return promise.then((key) => {
        importing.key = key;
        return key;
      });
    },
  };
}

/** A key that is being imported, and the key as soon as it is: from then on nobody waits for it. */
interface Importing {
  readonly promise: Promise<CryptoKey | undefined>;
  key: CryptoKey | undefined;
}

const MAX_KEYS = 100;

/** Without what only signs, encrypts or is secret. */
function verifies({ use, key_ops: operations, d, k }: JsonObject): boolean {
  if (d !== undefined || k !== undefined) return false;
  if (use !== undefined && use !== 'sig') return false;
  return operations === undefined || (Array.isArray(operations) && operations.includes('verify'));
}

function fits(jwk: JsonObject, algorithm: Algorithm): boolean {
  const { kty, crv } = keyTypeOf(algorithm);
  return (
    jwk.kty === kty &&
    jwk.crv === crv &&
    (jwk.alg === undefined || SAME[algorithm]?.includes(String(jwk.alg)) === true || jwk.alg === algorithm)
  );
}

/** Two names of one algorithm. @see RFC 9864, section 2.2 */
const SAME: Readonly<Partial<Record<Algorithm, readonly string[]>>> = { EdDSA: ['Ed25519'], Ed25519: ['EdDSA'] };

/** Imports a public JWK for one algorithm, without anything that its owner says may be done with it. */
export async function importPublic(jwk: JsonObject, algorithm: Algorithm): Promise<CryptoKey> {
  const { kty, crv, x, y, n, e } = jwk;
  const members = Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => typeof value === 'string');
  const key = await importJWK(Object.fromEntries(members), algorithm);
  if (key instanceof Uint8Array) throw new TypeError('jwk must be a public key, not a symmetric one.');
  if (!isStrong(key.algorithm)) throw new TypeError('jwk must have at least 2048 bits when it is an RSA key.');
  return key;
}

/** @see RFC 7518, section 3.3 */
function isStrong(algorithm: { readonly name: string; readonly modulusLength?: number }): boolean {
  return algorithm.modulusLength === undefined || algorithm.modulusLength >= 2048;
}
