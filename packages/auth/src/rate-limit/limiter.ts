import type { AuthError } from '../errors.ts';

/**
 * Limits requests by key: the id of a credential, or the address of a client without one.
 *
 * @see Interface: Limits; Authorization rules, item 6
 */
export interface RateLimiter {
  /** Counts one request and decides on it. A refused request is not counted. */
  consume(key: string): RateDecision | Promise<RateDecision>;
  /** Decides as `consume` would, without counting. */
  peek(key: string): RateDecision | Promise<RateDecision>;
}

/** The decision on one request: within the limit, or the error to answer with. */
export type RateDecision =
  | {
      /** True when the request is within the limit. */
      readonly allowed: true;
      /** Requests per window. */
      readonly limit: number;
      /** Further requests that are allowed now. */
      readonly remaining: number;
      /** Whole seconds until the whole limit is available again. */
      readonly resetSeconds: number;
      /** Length of the window in seconds. Default: not announced. */
      readonly windowSeconds?: number;
    }
  | {
      /** False when the limit is used up. */
      readonly allowed: false;
      /** The refusal, 429. */
      readonly error: AuthError<'rate_limited'>;
    };
