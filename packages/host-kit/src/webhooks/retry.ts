import { fraction, type Random } from '../ports/random.ts';

/** @see Interface: Events, Webhook delivery of events, 3 */
export interface RetryPolicy {
  /** Attempts in all, the first included. */
  readonly maxAttempts: number;
  readonly backoff: 'none' | 'fixed' | 'exponential';
  readonly delayMs: number;
  readonly maxDelayMs: number;
}

/**
 * How long to wait after attempt number `attempts` failed, in ms: the policy's backoff with ten per cent of jitter either way,
 * or longer when the receiver asked for it, and never longer than the policy allows.
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
 * The wait that a `Retry-After` asks for, in ms: seconds or an HTTP date; anything else asks for nothing.
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
