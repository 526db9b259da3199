import type { RateLimiter } from './limiter.ts';

/**
 * Rejects what is no limiter. One that fails when it is asked may change no outcome, and nobody would notice that nothing is
 * limited.
 *
 * @param option the function and the option, such as `guard: limiter`
 * @throws {TypeError} for anything but a limiter
 */
export function requireLimiter(option: string, limiter: RateLimiter): void {
  if (typeof limiter?.consume === 'function' && typeof limiter.peek === 'function') return;
  throw new TypeError(`${option} must be a rate limiter. Pass memoryRateLimiter({ limit, windowSeconds }).`);
}
