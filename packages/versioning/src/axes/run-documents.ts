/** The version fields of a stored run. */
export interface StoredRunVersions {
  /** An integer of at least 0; major 1 stored it as a string. Read it with {@link readEngineVersion}. */
  readonly engineVersion?: unknown;
  /** An integer of at least 2; absent on runs of major 1. Read it with {@link readEventLogSchemaVersion}. */
  readonly eventLogSchemaVersion?: unknown;
}

/** Matches the stored strings that can be read as an `engineVersion`: decimal integers without leading zeros. */
export const ENGINE_VERSION_TEXT: RegExp = /^(?:0|[1-9][0-9]*)$/;

/**
 * Reads a stored `engineVersion` as an integer of at least 0. Major 1 stored it as a string; the stored document is not
 * changed.
 *
 * @returns undefined for any other value, and above `Number.MAX_SAFE_INTEGER`
 * @example
 * import { readEngineVersion } from '@svc/versioning/axes';
 *
 * readEngineVersion('7'); // 7
 * @see Interface: Version axes, 3
 */
export function readEngineVersion(stored: unknown): number | undefined {
  const number = typeof stored === 'string' && ENGINE_VERSION_TEXT.test(stored) ? Number(stored) : stored;
  return isInteger(number) && number >= 0 ? number : undefined;
}

/** The `eventLogSchemaVersion` of every run that a host of major 2 creates. */
export const EVENT_LOG_SCHEMA_VERSION = 3;

const EVENT_LOG_SCHEMA_FLOOR = 2;

/**
 * Reads the `eventLogSchemaVersion` of a stored run. A run without one was created by a host of major 1 and reads as 2.
 *
 * @returns undefined for a value that is not an integer of at least 2
 * @example
 * import { readEventLogSchemaVersion } from '@svc/versioning/axes';
 *
 * readEventLogSchemaVersion(undefined); // 2
 * @see Interface: Version axes, 4
 */
export function readEventLogSchemaVersion(stored: unknown): number | undefined {
  if (stored === undefined) return EVENT_LOG_SCHEMA_FLOOR;
  return isInteger(stored) && stored >= EVENT_LOG_SCHEMA_FLOOR ? stored : undefined;
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
