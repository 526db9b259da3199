import { AuthError } from '../errors.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import type { RateDecision, RateLimiter } from './limiter.ts';

/** Options of `memoryRateLimiter`. */
export interface MemoryRateLimiterOptions {
  /** Requests per window: a whole number, at least 1. */
  readonly limit: number;
  /** Length of the window in seconds: a whole number, at least 1. */
  readonly windowSeconds: number;
  /** Milliseconds since the epoch, e.g. `Date.now`. */
  readonly now: () => number;
  /**
   * Most keys in memory: a whole number, at least 2. Above it, the least recently used keys are forgotten, and start
   * with a full limit. Default 100 000.
   */
  readonly maxKeys?: number;
}

const MEMORY_RATE_LIMITER_OPTIONS: OptionNames<MemoryRateLimiterOptions> = {
  limit: true,
  windowSeconds: true,
  now: true,
  maxKeys: true,
};

/**
 * Makes a rate limiter in the memory of one process. A whole window of requests may come at once; then requests are
 * earned back evenly over the window (generic cell rate algorithm). It stores two numbers per key and starts no timer.
 *
 * @throws {TypeError} when an option is not a whole number in its range, or `now` is not a function
 * @example
 * const limiter = memoryRateLimiter({ limit: 600, windowSeconds: 60, now: Date.now });
 * const decision = await limiter.consume(principal.credentialId);
 * @see Interface: Errors, `rate_limited`
 */
export function memoryRateLimiter(options: MemoryRateLimiterOptions): RateLimiter {
  requireKnown('memoryRateLimiter', options, MEMORY_RATE_LIMITER_OPTIONS);
  const { limit, windowSeconds, now, maxKeys = 100_000 } = options;
  requireWhole('limit', limit, 1);
  requireWhole('windowSeconds', windowSeconds, 1);
  requireWhole('maxKeys', maxKeys, 2);
  if (typeof now !== 'function') throw new TypeError('memoryRateLimiter: now must be a function, e.g. Date.now.');

  const msPerRequest = (windowSeconds * 1000) / limit;
  const meterOf = meters(windowSeconds * 1000, Math.floor(maxKeys / 2));

  return {
    consume(key) {
      const meter = meterNow(key);
      if (!hasRoom(meter)) return { allowed: false, error: exceeded(meter.used) };
      meter.used += 1;
      return within(meter.used);
    },
    peek(key) {
      const meter = meterNow(key);
      return hasRoom(meter) ? within(meter.used) : { allowed: false, error: exceeded(meter.used) };
    },
  };

  function meterNow(key: string): Meter {
    const time = now();
    const meter = meterOf(key, time);
    const elapsed = time - meter.at;
    // A clock that was set back, or returns NaN, earns no requests back.
    if (elapsed > 0) meter.used = Math.max(0, meter.used - elapsed / msPerRequest);
    meter.at = time;
    return meter;
  }

  function hasRoom({ used }: Meter): boolean {
    return used + 1 <= limit + ROUNDING;
  }

  function within(used: number): RateDecision {
    const remaining = Math.max(0, Math.floor(limit - used + ROUNDING));
    const resetSeconds = Math.ceil((used * msPerRequest) / 1000 - ROUNDING);
    return { allowed: true, limit, remaining, resetSeconds, windowSeconds };
  }

  function exceeded(used: number): AuthError<'rate_limited'> {
    const waitMs = (used + 1 - limit) * msPerRequest;
    const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
    const limited = `The limit of ${limit} requests in ${windowSeconds} s is used up.`;
    const message = `${limited} Try again in ${retryAfterSeconds} s.`;
    const current = Math.min(limit, Math.ceil(used));
    return new AuthError('rate_limited', message, { window: windowSeconds, limit, current, retryAfterSeconds });
  }
}

/** Far below one request and far above the rounding error. */
const ROUNDING = 1e-9;

interface Meter {
  /** Requests not yet earned back, at the time `at`. */
  used: number;
  /** Milliseconds since the epoch. */
  at: number;
}

/**
 * Finds the meter of a key, in two generations. A key that was quiet for a whole window has earned everything back, so
 * the old generation is dropped when it is a window old, or earlier when the young one is full.
 */
function meters(windowMs: number, maxYoung: number): (key: string, time: number) => Meter {
  let young = new Map<string, Meter>();
  let old = new Map<string, Meter>();
  let turnedAt = Number.NEGATIVE_INFINITY;

  return (key, time) => {
    const age = time - turnedAt;
    if (age >= windowMs) turn(time);
    else if (age < 0) turnedAt = time;
    const known = young.get(key);
    if (known !== undefined) return known;
    const meter = old.get(key) ?? { used: 0, at: time };
    if (young.size >= maxYoung) turn(time);
    young.set(key, meter);
    return meter;
  };

  function turn(time: number): void {
    old = young;
    young = new Map();
    turnedAt = time;
  }
}

function requireWhole(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new TypeError(`memoryRateLimiter: ${name} must be a whole number, at least ${least}.`);
}
