import type { RateLimiter } from './limiter.ts';

/**
 * Rejects a value that is no limiter. A limiter that fails changes no outcome, so such a value would limit nothing, in silence.
 *
 * @param option the function and the option, such as `guard: limiter`
 * @throws {TypeError} for anything but a limiter
 */
export function requireLimiter(option: string, limiter: RateLimiter): void {
  if (typeof limiter?.consume === 'function' && typeof limiter.peek === 'function') return;
  throw new TypeError(`${option} must be a rate limiter. Pass memoryRateLimiter({ limit, windowSeconds }).`);
}
