import { AuthError } from '../errors.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import type { RateDecision, RateLimiter } from './limiter.ts';

/** Options of `memoryRateLimiter`. */
export interface MemoryRateLimiterOptions {
  /** Requests per window: a whole number, at least 1. */
  readonly limit: number;
  /** Length of the window in seconds: a whole number, at least 1. */
  readonly windowSeconds: number;
  /**
   * A monotonic clock in milliseconds. Default `performance.now`. While a clock is behind its own highest reading, no
   * window ends: a clock that steps back and forth grants no further requests.
   */
  readonly now?: () => number;
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
 * Makes a rate limiter in the memory of one process. The window of a key begins with its first request. The key has
 * `limit` requests until the window ends, and the next request begins a new window. The limiter stores two numbers per
 * key and starts no timer.
 *
 * @throws {TypeError} when an option is not a whole number in its range, or `now` is not a function
 * @example
 * const limiter = memoryRateLimiter({ limit: 600, windowSeconds: 60 });
 * const decision = await limiter.consume(principal.credentialId);
 * @see Interface: Errors, `rate_limited`
 */
export function memoryRateLimiter(options: MemoryRateLimiterOptions): RateLimiter {
  requireKnown('memoryRateLimiter', options, MEMORY_RATE_LIMITER_OPTIONS);
  const { limit, windowSeconds, now = () => performance.now(), maxKeys = 100_000 } = options;
  requireWhole('limit', limit, 1);
  requireWhole('windowSeconds', windowSeconds, 1);
  requireWhole('maxKeys', maxKeys, 2);
  if (typeof now !== 'function')
    throw new TypeError('memoryRateLimiter: now must be a function. Omit it, or pass () => performance.now().');

  const windowMs = windowSeconds * 1000;
  const windowOf = windows(windowMs, Math.floor(maxKeys / 2));
  let latest = Number.NEGATIVE_INFINITY;

  return {
    consume(key) {
      const { window, time } = current(key);
      if (window.used >= limit) return { allowed: false, error: exceeded(window, time) };
      window.used += 1;
      return within(window, time);
    },
    peek(key) {
      const { window, time } = current(key);
      return window.used >= limit ? { allowed: false, error: exceeded(window, time) } : within(window, time);
    },
  };

  function current(key: string): { window: Window; time: number } {
    const reading = now();
    if (reading > latest) latest = reading;
    const window = windowOf(key, latest);
    if (latest - window.start >= windowMs || window.used === 0) {
      window.start = latest;
      window.used = 0;
    }
    return { window, time: latest };
  }

  function within(window: Window, time: number): RateDecision {
    const resetSeconds = window.used === 0 ? 0 : secondsLeft(window, time);
    return { allowed: true, limit, remaining: limit - window.used, resetSeconds, windowSeconds };
  }

  function exceeded(window: Window, time: number): AuthError<'rate_limited'> {
    const retryAfterSeconds = Math.max(1, secondsLeft(window, time));
    const limited = `The limit of ${limit} requests in ${windowSeconds} s is used up.`;
    const message = `${limited} Try again in ${retryAfterSeconds} s.`;
    return new AuthError('rate_limited', message, {
      window: windowSeconds,
      limit,
      current: window.used,
      retryAfterSeconds,
    });
  }

  function secondsLeft(window: Window, time: number): number {
    return Math.ceil((window.start + windowMs - time) / 1000);
  }
}

interface Window {
  /** Reading of the clock at the first request. */
  start: number;
  /** Requests since then. */
  used: number;
}

/**
 * Finds the window of a key, in two generations. A key that was quiet for a whole window has its whole limit again, so
 * the old generation is dropped when it is a window old, or earlier when the young one is full.
 */
function windows(windowMs: number, maxYoung: number): (key: string, time: number) => Window {
  let young = new Map<string, Window>();
  let old = new Map<string, Window>();
  let turnedAt = Number.NEGATIVE_INFINITY;

  return (key, time) => {
    if (time - turnedAt >= windowMs) turn(time);
    const known = young.get(key);
    if (known !== undefined) return known;
    const window = old.get(key) ?? { start: time, used: 0 };
    if (young.size >= maxYoung) turn(time);
    young.set(key, window);
    return window;
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
