import { decodeBase64url } from '#base64url';
import type { Algorithm } from '../jwt/algorithms.ts';
import { isBase64url, objectClaim, readJwt, textClaim } from '../jwt/jwt.ts';
import type { KeySource } from '../jwt/key-set.ts';
import { requireSignature } from '../jwt/signature.ts';
import type { JsonObject } from '../jwt/strict-json.ts';
import { inflated } from './inflate.ts';
import { isStatusSize, type StatusSize } from './status-bits.ts';

/** A verified list. */
export interface StatusList {
  readonly bits: StatusSize;
  readonly bytes: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly issuedAt: number;
  /** Milliseconds since the epoch. Infinity: the list names no expiry. */
  readonly expiresAt: number;
  /** Longest use after the fetch, in milliseconds. Infinity: the list names none. */
  readonly ttlMs: number;
}

/** The rules for a list. */
export interface ListRules {
  /** The URI by which tokens name the list. */
  readonly uri: string;
  readonly issuer: string;
  readonly keys: KeySource;
  readonly algorithms: readonly Algorithm[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly clockSkewSeconds: number;
  /** Most bytes of the inflated list. */
  readonly maxBytes: number;
}

/**
 * Verifies a status list token, and inflates its list.
 *
 * @throws {Error} for a token that is not a list of this URI, signed by the issuer and valid now
 * @see draft-ietf-oauth-status-list, sections 5.1 and 8.3
 */
export async function statusList(token: string, rules: ListRules): Promise<StatusList> {
  const { uri, issuer, keys, algorithms, now, clockSkewSeconds, maxBytes } = rules;
  const jwt = readJwt(token, listTextLimit(maxBytes));
  if (jwt === undefined) throw new Error('The answer must be a signed JWT.');
  // Before the list is inflated: only the issuer may have this host inflate anything.
  await requireSignature(jwt, keys, { algorithms, types: ['statuslist+jwt'] });
  const { claims } = jwt;
  if (textClaim(claims, 'sub') !== uri) throw new Error('The list is another one (sub).');
  if (Object.hasOwn(claims, 'iss') && textClaim(claims, 'iss') !== issuer)
    throw new Error('The list is of another issuer (iss).');
  const issuedAt = timeOf(claims, 'iat');
  if (issuedAt === undefined) throw new Error('The list must have an issue time (iat) in seconds.');
  if (!(issuedAt <= now + clockSkewSeconds * 1000))
    throw new Error('The issue time (iat) of the list is in the future. Compare the clocks.');
  const expiresAt = Object.hasOwn(claims, 'exp') ? timeOf(claims, 'exp') : Number.POSITIVE_INFINITY;
  if (expiresAt === undefined || !(now < expiresAt)) throw new Error('The list has expired (exp).');
  const ttlMs = Object.hasOwn(claims, 'ttl') ? timeOf(claims, 'ttl') : Number.POSITIVE_INFINITY;
  if (ttlMs === undefined || ttlMs === 0) throw new Error('The ttl of the list must be a number of seconds above 0.');
  const list = objectClaim(claims, 'status_list') ?? {};
  const bits = Object.hasOwn(list, 'bits') ? list.bits : undefined;
  const lst = textClaim(list, 'lst');
  if (!isStatusSize(bits)) throw new Error('The list must have 1, 2, 4 or 8 bits for each status.');
  if (lst === undefined || !isBase64url(lst)) throw new Error('The lst of the list must be base64url.');
  return { bits, bytes: await inflated(decodeBase64url(lst), maxBytes), issuedAt, expiresAt, ttlMs };
}

/**
 * Returns the most characters of a status list token. Data that cannot be compressed grows by a third in `lst`, and by
 * another third in the token.
 */
export function listTextLimit(maxBytes: number): number {
  return Math.ceil((maxBytes * 16) / 9) + 16 * 1024;
}

/** Returns a number of seconds in milliseconds; undefined for another value. */
function timeOf(claims: JsonObject, name: string): number | undefined {
  const seconds = claims[name];
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}
