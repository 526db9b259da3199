import { withinTime } from '../deadline.ts';
import { AuthError } from '../errors.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import { tell } from '../tell.ts';
import type { RateDecision, RateLimiter } from './limiter.ts';

/**
 * The part of a limiter of rate-limiter-flexible that is used. It rejects with a `FlexibleResult` when the points are
 * used up.
 */
export interface FlexibleLimiter {
  /** Counts one point of a key. */
  consume(key: string): Promise<FlexibleResult>;
  /** Reads the state of a key; null for a key without points. */
  get(key: string): Promise<FlexibleResult | null>;
}

/** The state of a key. */
export interface FlexibleResult {
  /** Milliseconds until the window ends. */
  readonly msBeforeNext: number;
  /** Points used in this window. */
  readonly consumedPoints: number;
}

/** Options of `flexibleRateLimiter`. */
export interface FlexibleRateLimiterOptions {
  /** The `points` of the limiter: a whole number, at least 1. */
  readonly limit: number;
  /** The `duration` of the limiter in seconds, at least 1. */
  readonly windowSeconds: number;
  /** Decides while the store of the limiter fails or is late. A `memoryRateLimiter` keeps the limit in each process. */
  readonly fallback: RateLimiter;
  /** Time limit of the store in milliseconds. Default 250. */
  readonly timeoutMs?: number;
  /** Called with each error of the store. Default: not called. */
  readonly onFailure?: (cause: unknown) => void;
}

const FLEXIBLE_RATE_LIMITER_OPTIONS: OptionNames<FlexibleRateLimiterOptions> = {
  limit: true,
  windowSeconds: true,
  fallback: true,
  timeoutMs: true,
  onFailure: true,
};

/**
 * Adapts a limiter of the library rate-limiter-flexible, with any of its stores. When the store fails the fallback
 * decides: the host keeps running, and keeps a limit.
 *
 * @throws {TypeError} when `limit`, `windowSeconds` or `fallback` is invalid
 * @example
 * const redis = new RateLimiterRedis({ storeClient, points: 600, duration: 60 });
 * const limiter = flexibleRateLimiter(redis, { limit: 600, windowSeconds: 60, fallback });
 * @see Interface: Errors, `rate_limited`
 */
export function flexibleRateLimiter(limiter: FlexibleLimiter, options: FlexibleRateLimiterOptions): RateLimiter {
  requireKnown('flexibleRateLimiter', options, FLEXIBLE_RATE_LIMITER_OPTIONS);
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
        tell(onFailure, cause);
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
        tell(onFailure, cause);
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
    const limited = `The limit of ${limit} requests in ${windowSeconds} s is used up.`;
    const message = `${limited} Try again in ${retryAfterSeconds} s.`;
    const details = { window: windowSeconds, limit, current: limit, retryAfterSeconds };
    return { allowed: false, error: new AuthError('rate_limited', message, details) };
  }
}

function isResult(value: unknown): value is FlexibleResult {
  return typeof value === 'object' && value !== null && 'msBeforeNext' in value && 'consumedPoints' in value;
}

const STORE = 'The store of the limiter';
