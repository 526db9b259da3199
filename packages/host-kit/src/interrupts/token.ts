import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { SubjectRecord } from '@svc/versioning/projection';
import { z } from 'zod';

/** What a token allows: to look at a question, or to answer it, too. */
export type TokenIntent = 'inspect' | 'resolve';

/** What a token is good for. Whoever holds it acts as the approver that it names. */
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

export interface InterruptTokens {
  /** @param form of major 1, two parts; of major 2, five */
  mint(claims: TokenClaims, form: 1 | 2): string;
  /** Undefined for what this host has not made. Whether it has expired is not looked at. */
  verify(token: string): TokenClaims | undefined;
}

/**
 * Tokens that carry a question to a person: a payload and its HMAC-SHA256. The keys are derived from the host's secret key, one for
 * each form; tokens that were made with a former key are good until they expire.
 *
 * A token of major 1 is `payload.mac`, and belongs to the key `legacy`. One of major 2 is `sv2.hs256.kid.payload.mac`, and its MAC
 * covers all that stands before it.
 *
 * @see RFC 5869; RFC 2104
 */
export function interruptTokens(secretKeys: readonly [Uint8Array, ...Uint8Array[]]): InterruptTokens {
  const [current, ...former] = secretKeys.map(keysOf);
  if (current === undefined) throw new TypeError('interruptTokens: a key is needed.');
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

/** The one algorithm that there is; discovery names it. */
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
  // Names the key and tells nothing of it.
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

/** Ours, so in our form, unless another version made it. */
function claimsIn(payload: string): TokenClaims | undefined {
  const parsed = CLAIMS.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
  return parsed.success ? parsed.data : undefined;
}
