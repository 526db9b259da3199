import { DEFAULT_ALGORITHMS } from '../jwt/algorithms.ts';
import { audiencesOf, requireLifetime, requireText } from '../jwt/claims.ts';
import { objectClaim, readJwt, textClaim } from '../jwt/jwt.ts';
import type { KeySource } from '../jwt/key-set.ts';
import { requireSignature, TokenFault } from '../jwt/signature.ts';

/** The rules of an issuer for its logout tokens. */
export interface LogoutRules {
  readonly keys: KeySource;
  /** The ids of this host's clients at the issuer. */
  readonly audiences: readonly string[];
  /** Whether tokens of the type `JWT` or without a type are accepted besides `logout+jwt`. */
  readonly plainJwt: boolean;
}

/** A valid logout token. */
export interface LogoutToken {
  readonly issuer: string;
  readonly jti: string;
  /** Undefined: the token names a session alone. */
  readonly subject: string | undefined;
  /** Undefined: every session of the subject ends. */
  readonly sid: string | undefined;
  /** Milliseconds since the epoch. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/**
 * Validates a logout token.
 *
 * @throws {TokenFault} for a token that breaks a rule; `outage` when the keys of its issuer are unavailable
 * @see OpenID Connect Back-Channel Logout 1.0, sections 2.4 and 2.6
 */
export async function logoutToken(
  text: string,
  rulesOf: (issuer: string) => LogoutRules | undefined,
  now: number,
): Promise<LogoutToken> {
  const jwt = readJwt(text);
  if (jwt === undefined) throw new TokenFault('unverified', 'It must be a signed JWT.');
  const { claims } = jwt;
  const issuer = textClaim(claims, 'iss') ?? '';
  const rules = rulesOf(issuer);
  if (rules === undefined) throw new TokenFault('unverified', 'Its issuer (iss) is not configured.');
  const types = rules.plainJwt ? ['logout+jwt', 'jwt', undefined] : ['logout+jwt'];
  await requireSignature(jwt, rules.keys, { algorithms: DEFAULT_ALGORITHMS, types });
  if (!audiencesOf(claims).some((audience) => rules.audiences.includes(audience)))
    throw new TokenFault('audience', 'Its audience (aud) must name this host.');
  const times = { now, clockSkewSeconds: SKEW_SECONDS, maxLifetimeSeconds: MAX_LIFETIME_SECONDS };
  const expiresAt = requireLifetime(claims, times);
  const events = objectClaim(claims, 'events');
  if (events === undefined || objectClaim(events, EVENT) === undefined)
    throw new TokenFault('unverified', `Its events must have the member ${EVENT}, an object.`);
  if (Object.hasOwn(claims, 'nonce')) throw new TokenFault('unverified', 'It must not have a nonce.');
  const [subject, sid] = [optionalText(claims, 'sub'), optionalText(claims, 'sid')];
  if (subject === undefined && sid === undefined) throw new TokenFault('unverified', 'It must have sub, sid or both.');
  // Required by `requireLifetime`, in whole seconds.
  const issuedAt = Number(claims.iat) * 1000;
  return { issuer, jti: requireText(claims, 'jti'), subject, sid, issuedAt, expiresAt };
}

/** The type of the event. The text is that of the specification, which has `http`. */
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const SKEW_SECONDS = 60;

/** The specification recommends two minutes. */
const MAX_LIFETIME_SECONDS = 600;

function optionalText(claims: Parameters<typeof requireText>[0], name: string): string | undefined {
  return Object.hasOwn(claims, name) ? requireText(claims, name) : undefined;
}
