import type { OptionNames } from '../known-options.ts';

/** The limits on reading a body, which applies before the sender is authenticated. */
export interface BodyLimits {
  /** The largest body in bytes. A larger one is answered with 413, without being read to its end. Default 1 048 576. */
  readonly maxBodyBytes?: number;
  /** The time for reading a body in milliseconds. A slower body is answered with 408. Default 10 000. */
  readonly bodyTimeoutMs?: number;
}

/** The names of {@link BodyLimits}. */
export const BODY_LIMITS: OptionNames<BodyLimits> = { maxBodyBytes: true, bodyTimeoutMs: true };

/**
 * Fills in the defaults of the limits.
 *
 * @throws {TypeError} for a limit that is not a positive integer, and for a time above 2 147 483 647 ms
 */
export function bodyLimits({ maxBodyBytes = 1_048_576, bodyTimeoutMs = 10_000 }: BodyLimits): Required<BodyLimits> {
  const limits = [
    ['maxBodyBytes', maxBodyBytes, Number.MAX_SAFE_INTEGER],
    ['bodyTimeoutMs', bodyTimeoutMs, LONGEST_TIMER_MS],
  ] as const;
  for (const [name, value, max] of limits) {
    if (Number.isInteger(value) && value >= 1 && value <= max) continue;
    throw new TypeError(`${name}: must be a positive integer of at most ${max}. Leave it out for the default.`);
  }
  return { maxBodyBytes, bodyTimeoutMs };
}

/** A longer timer would run at once, and refuse every body. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The bytes of a body, or the status of the answer when it was not read: 400 cut off, 408 too slow, 413 too large. */
export type BodyRead = Uint8Array | 400 | 408 | 413;
