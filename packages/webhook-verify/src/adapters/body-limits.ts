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
 * @throws {TypeError} for a limit that is not a positive integer
 */
export function bodyLimits({ maxBodyBytes = 1_048_576, bodyTimeoutMs = 10_000 }: BodyLimits): Required<BodyLimits> {
  for (const [name, value] of Object.entries({ maxBodyBytes, bodyTimeoutMs })) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new TypeError(`${name}: must be a positive integer. Leave it out for the default.`);
    }
  }
  return { maxBodyBytes, bodyTimeoutMs };
}

/** The bytes of a body, or the status of the answer when it was not read: 400 cut off, 408 too slow, 413 too large. */
export type BodyRead = Uint8Array | 400 | 408 | 413;
