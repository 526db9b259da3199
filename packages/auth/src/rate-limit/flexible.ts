import { withinTime } from '../deadline.ts';
import { AuthError } from '../errors.ts';
import type { RateDecision, RateLimiter } from './limiter.ts';

/** What is needed of a limiter of rate-limiter-flexible: it rejects with the same shape when the points are used up. */
export interface FlexibleLimiter {
  consume(key: string): Promise<FlexibleResult>;
  get(key: string): Promise<FlexibleResult | null>;
}

export interface FlexibleResult {
  readonly msBeforeNext: number;
  readonly consumedPoints: number;
}

export interface FlexibleRateLimiterOptions {
  /** Its `points`. */
  readonly limit: number;
  /** Its `duration`. */
  readonly windowSeconds: number;
  /** Decides while the store behind the limiter fails or is late; `memoryRateLimiter` keeps the limit in each process. */
  readonly fallback: RateLimiter;
  /** How long the store may take. Default 250. */
  readonly timeoutMs?: number;
  /** Told of every failure of the store. */
  readonly onFailure?: (cause: unknown) => void;
}

/**
 * A limiter of the library rate-limiter-flexible, with any of its stores, as a `RateLimiter`. When its store fails, the fallback
 * decides: a host neither stops for want of a counter nor runs without a limit.
 *
 * @throws {TypeError} for an option that cannot be right
 * @example
 * const limiter = flexibleRateLimiter(new RateLimiterRedis({ storeClient, points: 600, duration: 60 }), { limit: 600, windowSeconds: 60, fallback });
 * @see Interface: Errors, `rate_limited`
 */
export function flexibleRateLimiter(limiter: FlexibleLimiter, options: FlexibleRateLimiterOptions): RateLimiter {
  const { limit, windowSeconds, fallback, timeoutMs = 250, onFailure } = options;
  if (!Number.isSafeInteger(limit) || limit < 1 || !(windowSeconds >= 1)) {
    throw new TypeError(
      'flexibleRateLimiter: limit must be a whole number and windowSeconds a number, both at least 1.',
    );
  }
  if (typeof fallback?.consume !== 'function')
    throw new TypeError('flexibleRateLimiter: fallback must be a RateLimiter, e.g. memoryRateLimiter(…).');

  return {
    async consume(key) {
      try {
        return decisionOn(await withinTime(STORE, timeoutMs, limiter.consume(key)), limit);
      } catch (cause) {
        if (isResult(cause)) return exceeded(cause);
        onFailure?.(cause);
        return fallback.consume(key);
      }
    },
    async peek(key) {
      try {
        const result = await withinTime(STORE, timeoutMs, limiter.get(key));
        return result === null
          ? decisionOn({ consumedPoints: 0, msBeforeNext: 0 }, limit)
          : decisionOn(result, limit - 1);
      } catch (cause) {
        onFailure?.(cause);
        return fallback.peek(key);
      }
    },
  };

  function decisionOn(result: FlexibleResult, allowed: number): RateDecision {
    if (result.consumedPoints > allowed) return exceeded(result);
    const resetSeconds = Math.ceil(Math.max(0, result.msBeforeNext) / 1000);
    return { allowed: true, limit, remaining: Math.max(0, limit - result.consumedPoints), resetSeconds, windowSeconds };
  }

  function exceeded({ msBeforeNext }: FlexibleResult): RateDecision {
    const retryAfterSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
    const message = `The limit of ${limit} requests in ${windowSeconds} s is used up. Try again in ${retryAfterSeconds} s.`;
    const details = { window: windowSeconds, limit, current: limit, retryAfterSeconds };
    return { allowed: false, error: new AuthError('rate_limited', message, details) };
  }
}

function isResult(value: unknown): value is FlexibleResult {
  return typeof value === 'object' && value !== null && 'msBeforeNext' in value && 'consumedPoints' in value;
}

const STORE = 'The store of the limiter';
