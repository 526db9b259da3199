import { AuthError } from '../errors.ts';
import type { RateLimiter } from './limiter.ts';

export interface MemoryRateLimiterOptions {
  /** Requests a window. */
  readonly limit: number;
  readonly windowSeconds: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Keys remembered at the most; the one that was quiet longest is forgotten first. Default 100 000. */
  readonly maxKeys?: number;
}

/**
 * The generic cell rate algorithm: a whole window's requests may come at once, and from then on as they are earned back. It
 * holds one number a key and needs no timer, so time stays an argument.
 */
export function memoryRateLimiter(options: MemoryRateLimiterOptions): RateLimiter {
  const { limit, windowSeconds, now, maxKeys = 100_000 } = options;
  if (!(limit >= 1) || !(windowSeconds > 0)) throw new TypeError('limit and windowSeconds must be positive.');
  const windowMs = windowSeconds * 1000;
  const costMs = windowMs / limit;
  // When a key would have earned everything back. Insertion order is the order of last use.
  const full = new Map<string, number>();

  return {
    consume(key) {
      const time = now();
      const debtEnds = Math.max(full.get(key) ?? time, time) + costMs;
      const over = debtEnds - time - windowMs;
      if (over > 0) return { allowed: false, error: exceeded(Math.ceil(over / 1000)) };
      full.delete(key);
      full.set(key, debtEnds);
      if (full.size > maxKeys) forgetOldest();
      return { allowed: true };
    },
  };

  function forgetOldest(): void {
    for (const key of full.keys()) {
      full.delete(key);
      return;
    }
  }

  function exceeded(retryAfterSeconds: number): AuthError<'rate_limited'> {
    const message = `The limit of ${limit} requests in ${windowSeconds} s is used up. Try again in ${retryAfterSeconds} s.`;
    return new AuthError('rate_limited', message, { window: windowSeconds, limit, current: limit, retryAfterSeconds });
  }
}
