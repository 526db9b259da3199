import { readEngineVersion, readEventLogSchemaVersion } from '@svc/versioning/axes/run-documents';
import type { Run } from '../ports/runs.ts';

/** What a store has kept of a run: maybe what a host of major 1 wrote. */
export type StoredRun = Omit<Run, keyof Versions> & Readonly<Partial<Record<keyof Versions, unknown>>>;
type Versions = Pick<Run, 'engineVersion' | 'eventLogSchemaVersion'>;

/**
 * A run as its readers see it: an `engineVersion` that major 1 stored as a text is the integer, and a log without a version is of major 1.
 * What is stored stays as it is.
 *
 * @throws {Error} for a version that cannot be read so
 * @see Interface: Version axes
 */
export function runAsStored(stored: StoredRun): Run {
  const engineVersion = readEngineVersion(stored.engineVersion);
  const eventLogSchemaVersion = readEventLogSchemaVersion(stored.eventLogSchemaVersion);
  if (engineVersion === undefined) throw unreadable(stored, 'engineVersion');
  if (eventLogSchemaVersion === undefined) throw unreadable(stored, 'eventLogSchemaVersion');
  return { ...stored, engineVersion, eventLogSchemaVersion };
}

function unreadable({ runId }: StoredRun, member: keyof Versions): Error {
  return new Error(`The stored run ${runId} has an ${member} that is no integer, nor the text of one.`);
}
