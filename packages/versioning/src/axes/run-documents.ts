/** What a store has kept of a run, as far as versions go. */
export interface StoredRunVersions {
  readonly engineVersion?: unknown;
  readonly eventLogSchemaVersion?: unknown;
}

/** The form that the migration accepts: a decimal integer without leading zeros. */
export const ENGINE_VERSION_TEXT: RegExp = /^(?:0|[1-9][0-9]*)$/;

/**
 * `engineVersion` as a reader shows it: an integer of at least 0, also where major 1 stored it as a text. The stored document stays as it is.
 *
 * @returns undefined for what is neither, and for a text beyond the integers that JSON can carry exactly
 * @see Interface: Version axes, 3
 */
export function readEngineVersion(stored: unknown): number | undefined {
  const number = typeof stored === 'string' && ENGINE_VERSION_TEXT.test(stored) ? Number(stored) : stored;
  return isInteger(number) && number >= 0 ? number : undefined;
}

/** What a host of major 2 stamps on every run that it creates. */
export const EVENT_LOG_SCHEMA_VERSION = 3;

const EVENT_LOG_SCHEMA_FLOOR = 2;

/**
 * `eventLogSchemaVersion` of a stored run. A run without one was written by a host of major 1, and reads as 2.
 *
 * @returns undefined for what is no integer, or below the floor of 2
 * @see Interface: Version axes, 4
 */
export function readEventLogSchemaVersion(stored: unknown): number | undefined {
  if (stored === undefined) return EVENT_LOG_SCHEMA_FLOOR;
  return isInteger(stored) && stored >= EVENT_LOG_SCHEMA_FLOOR ? stored : undefined;
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
