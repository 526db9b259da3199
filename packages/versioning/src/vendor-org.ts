import { MANIFEST } from './manifest.ts';

/**
 * Checks the organization in whose name a host serves paths of its own under `/host/<org>/`, and returns it.
 *
 * @throws {TypeError} when it is not lower-case words joined by hyphens, or is a name that the protocol keeps for itself
 * @example
 * const base = `/host/${checkVendorOrg('example')}`;
 * @see Interface: Versioning, Paths, 3
 */
export function checkVendorOrg(org: string): string {
  if (!ORG.test(org)) {
    throw new TypeError(
      `org: "${org}" is not lower-case letters, digits and single hyphens after a letter. Use one such as "acme-labs".`,
    );
  }
  if (RESERVED.has(org)) {
    throw new TypeError(
      `org: "${org}" is reserved for the protocol. Choose a name that is not a segment of its paths.`,
    );
  }
  return org;
}

const ORG = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;

/** The segments of the manifest, the prefix of its first major, and what the protocol keeps beside them. */
const RESERVED: ReadonlySet<string> = new Set([
  ...MANIFEST.flatMap(({ path }) => path.split(/[/:]/)),
  'v1',
  'v2',
  'svc',
  'vendor',
]);
