import { textClaim } from './jwt.ts';
import { TokenFault } from './signature.ts';
import type { JsonObject } from './strict-json.ts';

export interface LifetimeRules {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly clockSkewSeconds: number;
  /** Longest time from `iat` to `exp`. */
  readonly maxLifetimeSeconds: number;
  /** Whether `iat` may be absent, as in a JWT-SVID. The lifetime then counts from now. Default false. */
  readonly issuedAtOptional?: boolean;
}

/**
 * Checks the times of a token. `exp` and, by default, `iat` are required; each time is a whole number of seconds.
 *
 * @returns `exp` in milliseconds since the epoch
 * @throws {TokenFault} `expired`, `lifetime` or `unverified`
 * @see RFC 7519, sections 4.1.4 to 4.1.6; RFC 9068, section 2.2
 */
export function requireLifetime(claims: JsonObject, rules: LifetimeRules): number {
  const { now, clockSkewSeconds, maxLifetimeSeconds, issuedAtOptional = false } = rules;
  const seconds = now / 1000;
  const expiresAt = requiredTime(claims, 'exp');
  const issuedAt = issuedAtOptional && claims.iat === undefined ? Math.floor(seconds) : requiredTime(claims, 'iat');
  const notBefore = claims.nbf === undefined ? issuedAt : requiredTime(claims, 'nbf');
  // Negated, so that a clock that returns NaN refuses.
  if (!(seconds < expiresAt + clockSkewSeconds)) throw new TokenFault('expired', 'It has expired.');
  if (!(issuedAt <= seconds + clockSkewSeconds))
    throw new TokenFault('unverified', 'Its issue time (iat) is in the future.', { reason: 'time' });
  if (!(notBefore <= seconds + clockSkewSeconds))
    throw new TokenFault('unverified', 'It is not valid yet (nbf).', { reason: 'time' });
  if (expiresAt <= issuedAt && claims.iat !== undefined)
    throw new TokenFault('unverified', 'Its expiry (exp) must be after its issue time (iat).');
  if (expiresAt - issuedAt > maxLifetimeSeconds) {
    throw new TokenFault('lifetime', `Its lifetime (exp - iat) must be at most ${maxLifetimeSeconds} s.`);
  }
  return expiresAt * 1000;
}

function requiredTime(claims: JsonObject, name: string): number {
  const time = Object.hasOwn(claims, name) ? claims[name] : undefined;
  if (Number.isSafeInteger(time) && typeof time === 'number' && time >= 0) return time;
  throw new TokenFault('unverified', `Its ${name} must be a time in whole seconds.`);
}

/**
 * Returns the audiences of a token.
 *
 * @throws {TokenFault} `audience` when the claim is missing or malformed
 * @see RFC 7519, section 4.1.3
 */
export function audiencesOf({ aud }: JsonObject): readonly string[] {
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (audiences.length > 0 && audiences.every((audience) => typeof audience === 'string')) return audiences;
  throw new TokenFault('audience', 'Its audience (aud) must be a string or a list of strings.');
}

/** @throws {TokenFault} `unverified` when the claim is missing, empty or over 1024 characters */
export function requireText(claims: JsonObject, name: string): string {
  const value = textClaim(claims, name);
  if (value !== undefined && value !== '' && value.length <= 1024) return value;
  throw new TokenFault('unverified', `Its ${name} must be a string of 1 to 1024 characters.`);
}
