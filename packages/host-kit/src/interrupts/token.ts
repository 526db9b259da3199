import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { SubjectRecord } from '@svc/versioning/projection';
import { z } from 'zod';

/** The permission of a token: `inspect` reads a question, `resolve` also answers it. */
export type TokenIntent = 'inspect' | 'resolve';

/** The content of a token. Its bearer acts as `approver`. */
export interface TokenClaims {
  readonly tenant: string;
  readonly mode: 'live' | 'test';
  readonly runId: string;
  readonly nodeId: string;
  readonly interruptId: string;
  readonly intent: TokenIntent;
  /** In ms since the epoch. */
  readonly expiresAt: number;
  readonly approver: { readonly principal: string; readonly subject: SubjectRecord };
}

/** Mints and verifies the tokens of questions. */
export interface InterruptTokens {
  /**
   * Makes a token.
   *
   * @param form the form of a major: 1 has two parts, 2 has five
   */
  mint(claims: TokenClaims, form: 1 | 2): string;
  /** Returns the claims of a token that this host made, otherwise undefined. Does not check `expiresAt`. */
  verify(token: string): TokenClaims | undefined;
}

/**
 * Mints and verifies tokens that carry a question to a person: a payload and its HMAC-SHA256. The keys are derived from
 * the host's secret key, one for each form. Tokens of a former secret key stay valid until they expire.
 *
 * A token of major 1 is `payload.mac`, signed with the key `legacy`. A token of major 2 is `sv2.hs256.kid.payload.mac`;
 * its MAC covers all parts before it.
 *
 * @param secretKeys the current key first
 * @throws {TypeError} for an empty list
 * @see RFC 5869; RFC 2104
 */
export function interruptTokens(secretKeys: readonly [Uint8Array, ...Uint8Array[]]): InterruptTokens {
  const [current, ...former] = secretKeys.map(keysOf);
  if (current === undefined)
    throw new TypeError('secretKeys: must have at least one key. Pass the secretKey of the host.');
  const all = [current, ...former];

  return {
    mint(claims, form) {
      const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
      if (form === 1) return `${payload}.${macOf(current.legacy, payload)}`;
      const signed = `${PREFIX}.${TOKEN_ALGORITHM}.${current.kid}.${payload}`;
      return `${signed}.${macOf(current.modern, signed)}`;
    },
    verify(token) {
      if (token.length > LONGEST_TOKEN || !/^[\x21-\x7e]+$/.test(token)) return undefined;
      return token.startsWith(`${PREFIX}.`) ? modern(token) : legacy(token);
    },
  };

  function modern(token: string): TokenClaims | undefined {
    const [, algorithm, kid, payload = '', mac = '', ...others] = token.split('.');
    const keys = all.find((candidate) => candidate.kid === kid);
    if (algorithm !== TOKEN_ALGORITHM || keys === undefined || others.length > 0) return undefined;
    const signed = token.slice(0, token.lastIndexOf('.'));
    return isMac(mac, macOf(keys.modern, signed)) ? claimsIn(payload) : undefined;
  }

  function legacy(token: string): TokenClaims | undefined {
    const [payload = '', mac = '', ...others] = token.split('.');
    if (others.length > 0) return undefined;
    const isOurs = all.map((keys) => isMac(mac, macOf(keys.legacy, payload))).includes(true);
    return isOurs ? claimsIn(payload) : undefined;
  }
}

/** The only supported algorithm, as discovery names it. */
export const TOKEN_ALGORITHM = 'hs256';
const PREFIX = 'sv2';
const LONGEST_TOKEN = 4096;

interface Keys {
  readonly kid: string;
  readonly legacy: Uint8Array;
  readonly modern: Uint8Array;
}

function keysOf(secretKey: Uint8Array): Keys {
  const derived = (purpose: string) =>
    new Uint8Array(hkdfSync('sha256', secretKey, new Uint8Array(), `svc interrupt token ${purpose}`, 32));
  const modern = derived('hs256');
  // A hash, because the key id must not reveal the key.
  const kid = createHash('sha256').update(modern).digest('hex').slice(0, 8);
  return { kid, modern, legacy: derived('legacy') };
}

function macOf(key: Uint8Array, signed: string): string {
  return createHmac('sha256', key).update(signed).digest('base64url');
}

function isMac(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const CLAIMS = z.object({
  tenant: z.string(),
  mode: z.enum(['live', 'test']),
  runId: z.string(),
  nodeId: z.string(),
  interruptId: z.string(),
  intent: z.enum(['inspect', 'resolve']),
  expiresAt: z.int(),
  approver: z.object({ principal: z.string(), subject: z.custom<SubjectRecord>((value) => typeof value === 'object') }),
});

/** A verified payload was written by this host, but maybe by a version with other claims. */
function claimsIn(payload: string): TokenClaims | undefined {
  const parsed = CLAIMS.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
  return parsed.success ? parsed.data : undefined;
}
