import { VersioningError } from './errors.ts';
import { compareVersions, parseVersion } from './version.ts';

/**
 * The refusal for a client below the floor. A client that does not say its version, or says it in another form, passes.
 *
 * @see Interface: Versioning, Request header `SVC-Version`
 */
export function refuseClient(header: string | null, floor: string | undefined): VersioningError | undefined {
  if (header === null || floor === undefined) return undefined;
  // The patch plays no part.
  const client = parseVersion(header.replace(PATCH, ''));
  const least = parseVersion(floor);
  if (client === undefined || least === undefined || compareVersions(client, least) >= 0) return undefined;
  return new VersioningError(
    'client_version_unsupported',
    `This host requires a client of version ${floor} or later. Upgrade the client.`,
    { minClientVersion: floor },
  );
}

const PATCH = /(?<=^[0-9]+\.[0-9]+)\.(?:0|[1-9][0-9]*)$/;
