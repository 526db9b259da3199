import { type CryptoKey, importJWK } from 'jose';
import { type Algorithm, keyTypeOf } from './algorithms.ts';
import { isObject, type JsonObject } from './strict-json.ts';

/** The public keys of an issuer. */
export interface KeySource {
  /**
   * Returns the one key that fits, or undefined when none or more than one fits.
   *
   * @throws an error when the keys are unavailable: an outage, which says nothing about the token
   */
  find(wanted: WantedKey): CryptoKey | undefined | Promise<CryptoKey | undefined>;
}

/** A query for a key. */
export interface WantedKey {
  /** The signature algorithm of the token. */
  readonly algorithm: Algorithm;
  /** `kid` of the token. Undefined when the token has none; then exactly one key must fit. */
  readonly keyId: string | undefined;
}

/** A JSON Web Key Set. Its content is checked. */
export interface JsonWebKeySet {
  /** The JWKs, at most 100. */
  readonly keys: readonly object[];
}

/**
 * Makes a key source of fixed keys.
 *
 * @throws {TypeError} when `keySet` is not a key set, has over 100 keys, or has no public signature key
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

/**
 * Returns the keys of a set that can verify. Undefined for a value that is not a set, has no such key, or has over 100
 * keys.
 *
 * @param isUse recognises the `use` of a key; default: `sig`, and a key without `use`
 */
export function usableKeys(keySet: unknown, isUse: (use: unknown) => boolean = isForSignatures): KeySource | undefined {
  const listed = isObject(keySet) && Array.isArray(keySet.keys) ? keySet.keys.filter(isObject) : [];
  const usable = listed
    .filter((jwk) => verifies(jwk, isUse))
    .map((jwk) => ({ jwk, imported: new Map<Algorithm, Importing>() }));
  if (usable.length === 0 || listed.length > MAX_KEYS) return undefined;
  return {
    find({ algorithm, keyId }) {
      const fitting = usable.filter(({ jwk }) => fits(jwk, algorithm) && (keyId === undefined || jwk.kid === keyId));
      const [found, ...others] = fitting;
      if (found === undefined || others.length > 0) return undefined;
      const known = found.imported.get(algorithm);
      if (known !== undefined) return known.key ?? known.promise;
      // A malformed key verifies nothing; it is not an outage.
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

/** An import of a key. `key` is set when it is done; later callers take it without waiting. */
interface Importing {
  readonly promise: Promise<CryptoKey | undefined>;
  key: CryptoKey | undefined;
}

const MAX_KEYS = 100;

function isForSignatures(use: unknown): boolean {
  return use === undefined || use === 'sig';
}

/** Returns false for keys that are secret, or that only sign or encrypt. */
function verifies({ use, key_ops: operations, d, k }: JsonObject, isUse: (use: unknown) => boolean): boolean {
  if (d !== undefined || k !== undefined) return false;
  if (!isUse(use)) return false;
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

/** Imports a public JWK for one algorithm. Only its key material is used; other members are dropped. */
export async function importPublic(jwk: JsonObject, algorithm: Algorithm): Promise<CryptoKey> {
  const { kty, crv, x, y, n, e } = jwk;
  const members = Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => typeof value === 'string');
  const key = await importJWK(Object.fromEntries(members), algorithm);
  if (key instanceof Uint8Array)
    throw new TypeError('jwk: must be a public key, not a symmetric one. Use an asymmetric key.');
  if (!isStrong(key.algorithm)) throw new TypeError('jwk: an RSA key must have at least 2048 bits. Use a longer key.');
  return key;
}

/** @see RFC 7518, section 3.3 */
function isStrong(algorithm: { readonly name: string; readonly modulusLength?: number }): boolean {
  return algorithm.modulusLength === undefined || algorithm.modulusLength >= 2048;
}
