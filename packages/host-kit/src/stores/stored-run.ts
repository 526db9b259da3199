import { readEngineVersion, readEventLogSchemaVersion } from '@svc/versioning/axes';
import type { Run } from '../ports/runs.ts';
import { UnreadableRecord } from '../ports/unreadable-record.ts';

/** A run as a store holds it. A host of major 1 may have written its versions in another form. */
export type StoredRun = Omit<Run, keyof Versions> & Readonly<Partial<Record<keyof Versions, unknown>>>;
type Versions = Pick<Run, 'engineVersion' | 'eventLogSchemaVersion'>;

/**
 * Reads a stored run: an `engineVersion` that major 1 stored as a string becomes an integer, and a run without an
 * `eventLogSchemaVersion` gets that of major 1. The stored record does not change.
 *
 * @throws {UnreadableRecord} when one of the versions cannot be read
 * @see Interface: Version axes
 */
export function runAsStored(stored: StoredRun): Run {
  const engineVersion = readEngineVersion(stored.engineVersion);
  const eventLogSchemaVersion = readEventLogSchemaVersion(stored.eventLogSchemaVersion);
  if (engineVersion === undefined) throw unreadable(stored, 'engineVersion');
  if (eventLogSchemaVersion === undefined) throw unreadable(stored, 'eventLogSchemaVersion');
  return { ...stored, engineVersion, eventLogSchemaVersion };
}

function unreadable({ runId }: StoredRun, member: keyof Versions): UnreadableRecord {
  return new UnreadableRecord('run', runId, `its ${member} is neither an integer nor its decimal text`);
}
