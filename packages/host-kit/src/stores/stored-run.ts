import { readEngineVersion, readEventLogSchemaVersion } from '@svc/versioning/axes/run-documents';
import type { Run, UnreadableRun } from '../ports/runs.ts';

/** A run as a store holds it. A host of major 1 may have written its versions in another form. */
export type StoredRun = Omit<Run, keyof Versions> & Readonly<Partial<Record<keyof Versions, unknown>>>;
type Versions = Pick<Run, 'engineVersion' | 'eventLogSchemaVersion'>;

/**
 * Reads a stored run: an `engineVersion` that major 1 stored as a string becomes an integer, and a run without an
 * `eventLogSchemaVersion` gets that of major 1. The stored record does not change.
 *
 * @throws {Error} when one of the versions cannot be read
 * @see Interface: Version axes
 */
export function runAsStored(stored: StoredRun): Run {
  const engineVersion = readEngineVersion(stored.engineVersion);
  const eventLogSchemaVersion = readEventLogSchemaVersion(stored.eventLogSchemaVersion);
  if (engineVersion === undefined) throw unreadable(stored, 'engineVersion');
  if (eventLogSchemaVersion === undefined) throw unreadable(stored, 'eventLogSchemaVersion');
  return { ...stored, engineVersion, eventLogSchemaVersion };
}

/**
 * Reads stored runs. With `unreadable`, a run that cannot be read is reported there and left out, so that it does not keep
 * the others from being read.
 */
export function readRuns<Stored>(
  stored: readonly Stored[],
  read: (stored: Stored) => Run,
  idOf: (stored: Stored) => string,
  unreadable: UnreadableRun | undefined,
): Run[] {
  if (unreadable === undefined) return stored.map(read);
  return stored.flatMap((record) => {
    try {
      return [read(record)];
    } catch (error) {
      unreadable(idOf(record), error);
      return [];
    }
  });
}

function unreadable({ runId }: StoredRun, member: keyof Versions): Error {
  return new Error(
    `Stored run ${runId}: ${member} is neither an integer nor its decimal text. Restore the record from a backup.`,
  );
}
