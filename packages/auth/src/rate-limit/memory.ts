import { AuthError } from '../errors.ts';
import type { RateDecision, RateLimiter } from './limiter.ts';

export interface MemoryRateLimiterOptions {
  /** Requests a window: a whole number, at least 1. */
  readonly limit: number;
  /** A whole number, at least 1. */
  readonly windowSeconds: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Keys remembered at the most, at least 2. Beyond it those that were quiet longest start afresh. Default 100 000. */
  readonly maxKeys?: number;
}

/**
 * A limit in the memory of one process. A whole window's requests may come at once, and from then on as they are earned back,
 * evenly over the window: the generic cell rate algorithm. It holds two numbers a key and starts no timer.
 *
 * @throws {TypeError} for an option that cannot be right
 * @example
 * const limiter = memoryRateLimiter({ limit: 600, windowSeconds: 60, now: Date.now });
 * const decision = await limiter.consume(principal.credentialId);
 * @see Interface: Errors, `rate_limited`
 */
export function memoryRateLimiter(options: MemoryRateLimiterOptions): RateLimiter {
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
    // A clock that was set back, or gives no number, earns nothing.
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
    const message = `The limit of ${limit} requests in ${windowSeconds} s is used up. Try again in ${retryAfterSeconds} s.`;
    const current = Math.min(limit, Math.ceil(used));
    return new AuthError('rate_limited', message, { window: windowSeconds, limit, current, retryAfterSeconds });
  }
}

/** Far below one request, far above what the arithmetic gets wrong. */
const ROUNDING = 1e-9;

interface Meter {
  /** Requests not yet earned back, at the time of `at`. */
  used: number;
  at: number;
}

/**
 * Finds the meter of a key, in two generations. A key that was quiet for a whole window has earned everything back, so the old
 * generation is dropped at once when it is that old; and early, when the young one is full.
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
