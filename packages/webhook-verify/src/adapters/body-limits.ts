/** What a body may cost before anything is known of its sender. */
export interface BodyLimits {
  /** Larger bodies are answered 413 without being read to the end. Default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** A body that takes longer is answered 408. Default 10 000 ms. */
  readonly bodyTimeoutMs?: number;
}

/**
 * The limits with their defaults.
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

/** The bytes of a body, or the status that says why there are none. */
export type BodyRead = Uint8Array | 400 | 408 | 413;
