import { fraction, type Random } from '../ports/random.ts';

/**
 * The retries of a durable delivery.
 *
 * @see Interface: Events, Webhook delivery of events, 3
 */
export interface RetryPolicy {
  /** The number of attempts, the first included. */
  readonly maxAttempts: number;
  /** The growth of the delay: none waits 0 ms, fixed waits `delayMs`, exponential doubles it after each attempt. */
  readonly backoff: 'none' | 'fixed' | 'exponential';
  /** The delay after the first attempt, in ms. */
  readonly delayMs: number;
  /** The longest delay, in ms, also when a receiver asks for a longer one. */
  readonly maxDelayMs: number;
}

/**
 * Returns the delay after a failed attempt, in ms: the policy's backoff with a jitter of up to 10 % either way, or
 * the longer delay that the receiver asked for. Never more than `maxDelayMs`.
 *
 * @param attempts the number of attempts made so far
 * @param askedMs the delay that the receiver asked for, in ms
 */
export function retryDelay(policy: RetryPolicy, attempts: number, askedMs: number | undefined, random: Random): number {
  const jittered = backoffOf(policy, attempts) * (0.9 + 0.2 * fraction(random));
  return Math.min(Math.max(jittered, askedMs ?? 0), policy.maxDelayMs);
}

function backoffOf({ backoff, delayMs, maxDelayMs }: RetryPolicy, attempts: number): number {
  if (backoff === 'none') return 0;
  if (backoff === 'fixed') return delayMs;
  return Math.min(delayMs * 2 ** (attempts - 1), maxDelayMs);
}

/**
 * Parses `Retry-After`, in seconds or as an HTTP date, into ms from `now`. Returns undefined for any other value.
 *
 * @see RFC 9110, section 10.2.3
 */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^[0-9]{1,9}$/.test(value)) return Number(value) * 1000;
  if (!IMF_FIXDATE.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(date - now, 0);
}

const IMF_FIXDATE = /^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/;
