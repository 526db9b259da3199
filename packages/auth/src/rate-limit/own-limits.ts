import type { RateLimiter } from './limiter.ts';
import { memoryRateLimiter } from './memory.ts';

/** The most requests of one credential in a window, as `Principal.rateLimit` has it. */
export interface OwnLimit {
  /** Requests per window: a whole number, at least 1. */
  readonly limit: number;
  /** Length of the window in seconds: a whole number, at least 1. */
  readonly windowSeconds: number;
}

/**
 * Makes the limiters of credentials that have a limit of their own: one for each pair of limit and window, in the memory of
 * this process. When there are too many pairs, the oldest is forgotten, and its credentials begin a new window.
 *
 * @returns the limiter of a pair
 * @throws {TypeError} the returned function throws it when a number is not whole or is less than 1
 * @example
 * const limiterOf = ownLimits();
 * const decision = principal.rateLimit && (await limiterOf(principal.rateLimit).consume(principal.credentialId));
 */
export function ownLimits(): (own: OwnLimit) => RateLimiter {
  const limiters = new Map<string, RateLimiter>();
  return ({ limit, windowSeconds }) => {
    const name = `${limit}/${windowSeconds}`;
    const known = limiters.get(name);
    if (known !== undefined) return known;
    const made = memoryRateLimiter({ limit, windowSeconds });
    const [oldest] = limiters.keys();
    if (limiters.size >= MOST_PAIRS && oldest !== undefined) limiters.delete(oldest);
    limiters.set(name, made);
    return made;
  };
}

const MOST_PAIRS = 1000;
