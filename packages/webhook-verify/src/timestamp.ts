import { WebhookVerificationError } from './errors.ts';

/** The default tolerance in seconds: five minutes in either direction, inclusive. @see Interface: Limits */
export const TOLERANCE_SECONDS = 300;

/**
 * Reads a timestamp header: Unix time in seconds, 1 to 15 decimal digits.
 *
 * @throws {WebhookVerificationError} `malformed_timestamp`
 */
export function parseTimestamp(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new WebhookVerificationError('malformed_timestamp', undefined);
  return Number(text);
}

/**
 * Rejects a delivery whose time of signing is further from `now` (in milliseconds) than the tolerance.
 *
 * @throws {WebhookVerificationError} `timestamp_out_of_range`
 */
export function requireFresh(timestamp: number, now: number, toleranceSeconds: number): void {
  // The comparison is positive, so that a clock that returns NaN rejects.
  const fresh = Math.abs(Math.floor(now / 1000) - timestamp) <= toleranceSeconds;
  if (!fresh) throw new WebhookVerificationError('timestamp_out_of_range', { toleranceSeconds });
}

/** Checks the tolerance. @throws {TypeError} when it is not a positive, finite number of seconds */
export function checkedTolerance(seconds: number = TOLERANCE_SECONDS): number {
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new TypeError('toleranceSeconds: must be a positive number. Freshness cannot be switched off.');
}
