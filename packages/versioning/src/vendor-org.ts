import { EVENT_FIRST_WORDS } from './event-vocabulary.ts';
import { MANIFEST } from './manifest.ts';

/**
 * Checks the organization of the vendor paths `/host/<org>/`, and returns it.
 *
 * @throws {TypeError} when it is not lower-case words joined by single hyphens, or is reserved for the protocol
 * @example
 * import { checkVendorOrg } from '@svc/versioning';
 *
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
      `org: "${org}" is reserved for the protocol. Choose a name that begins no path and no event type of it.`,
    );
  }
  return org;
}

const ORG = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;

/**
 * The path segments of the manifest, the prefixes of the majors, the first words of the event types, which no vendor's
 * event has, and the protocol's other reserved names.
 */
const RESERVED: ReadonlySet<string> = new Set([
  ...MANIFEST.flatMap(({ path }) => path.split(/[/:]/)),
  ...EVENT_FIRST_WORDS,
  'v1',
  'v2',
  'svc',
  'vendor',
]);
