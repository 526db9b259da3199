import type { HostCapabilities } from '../discovery/capabilities.ts';
import type { VendorRoute } from '../http/route.ts';

/** A surface of the host's own under `/host/<org>`. */
export interface Mount {
  /** One lower-kebab word, its name in discovery. */
  readonly name: string;
  /** Behind `/host/<org>`. */
  readonly path: string;
  readonly routes: readonly VendorRoute[];
}

/** Where each mount is, for discovery. @see Interface: Versioning, Paths, 3 */
export function mountExtensions(org: string, mounts: readonly Mount[]): NonNullable<HostCapabilities['extensions']> {
  return Object.fromEntries(mounts.map(({ name, path }) => [`${org}.${name}`, { path: `/host/${org}${path}` }]));
}
