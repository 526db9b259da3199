import { VersioningError } from './errors.ts';
import { compareVersions, parseVersion } from './version.ts';

/**
 * Returns the error for a client below the floor, or undefined. A client whose version is absent or malformed passes.
 *
 * @see Interface: Versioning, Request header `SVC-Version`
 */
export function refuseClient(header: string | null, floor: string | undefined): VersioningError | undefined {
  if (header === null || floor === undefined) return undefined;
  // The floor has no patch, so a patch must not decide.
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
