import { WebhookVerificationError } from './errors.ts';

/** Five minutes, inclusive, either way. @see Interface: Limits */
export const TOLERANCE_SECONDS = 300;

/**
 * The Unix time in seconds that a timestamp header names: decimal digits and nothing else.
 *
 * @throws {WebhookVerificationError} `malformed_timestamp`
 */
export function parseTimestamp(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new WebhookVerificationError('malformed_timestamp', undefined);
  return Number(text);
}

/**
 * Refuses a delivery signed further from `now` (ms) than the tolerance.
 *
 * @throws {WebhookVerificationError} `timestamp_out_of_range`
 */
export function requireFresh(timestamp: number, now: number, toleranceSeconds: number): void {
  // Written so that a clock that is not a number refuses.
  const fresh = Math.abs(Math.floor(now / 1000) - timestamp) <= toleranceSeconds;
  if (!fresh) throw new WebhookVerificationError('timestamp_out_of_range', { toleranceSeconds });
}

/** @throws {TypeError} for what is not a positive number of seconds */
export function checkedTolerance(seconds: number = TOLERANCE_SECONDS): number {
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new TypeError('toleranceSeconds: must be a positive number. Freshness cannot be switched off.');
}
