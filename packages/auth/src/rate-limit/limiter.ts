import type { AuthError } from '../errors.ts';

/**
 * Counts requests by key: the id of a credential, or the address of a client that has none.
 *
 * @see Interface: Limits; Authorization rules, item 6
 */
export interface RateLimiter {
  /** Counts one request, and says whether it is within the limit. A refused request does not count. */
  consume(key: string): RateDecision | Promise<RateDecision>;
  /** What `consume` would say, without counting. */
  peek(key: string): RateDecision | Promise<RateDecision>;
}

export type RateDecision =
  | {
      readonly allowed: true;
      readonly limit: number;
      /** How many more requests would be allowed now. */
      readonly remaining: number;
      /** Whole seconds until the whole limit is available again. */
      readonly resetSeconds: number;
      readonly windowSeconds?: number;
    }
  | { readonly allowed: false; readonly error: AuthError<'rate_limited'> };
