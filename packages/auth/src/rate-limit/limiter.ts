import type { AuthError } from '../errors.ts';

/** Counts requests by key, which is a credential's id or a client's address. */
export interface RateLimiter {
  consume(key: string): RateDecision | Promise<RateDecision>;
}

export type RateDecision =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly error: AuthError<'rate_limited'> };
