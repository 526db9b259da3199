import { VersioningError } from './errors.ts';
import { compareVersions, parseVersion, type Version } from './version.ts';

/**
 * The refusal for a client below the floor. A client that does not say its version, or says it in another form, passes.
 *
 * @see Interface: Versioning, Request header `SVC-Version`
 */
export function refuseClient(header: string | null, floor: string | undefined): VersioningError | undefined {
  if (header === null || floor === undefined) return undefined;
  const client = parseClientVersion(header);
  const least = parseVersion(floor);
  if (client === undefined || least === undefined || compareVersions(client, least) >= 0) return undefined;
  return new VersioningError(
    'client_version_unsupported',
    `This host serves clients from version ${floor} on. Upgrade the client.`,
    { minClientVersion: floor },
  );
}

/** `<major>.<minor>[.<patch>]`; the patch plays no part. */
function parseClientVersion(text: string): Version | undefined {
  return parseVersion(text.replace(/^([0-9]+\.[0-9]+)\.(?:0|[1-9][0-9]*)$/, '$1'));
}
