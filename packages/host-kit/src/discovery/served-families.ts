import { z } from 'zod';
import type { HostCapabilities } from './capabilities.ts';
import { CLAIMED, type Facets } from './families.ts';
import { valid } from './valid.ts';

const FAMILIES = z.strictObject(CLAIMED).partial();

/**
 * Returns the declared families with their limits filled in. Experimental families are left out unless `experimental`
 * is true.
 *
 * @throws {TypeError} when the interface does not know a family, a facet or a value
 */
export function servedFamilies({ families = {}, claims = {}, experimental = false }: HostCapabilities): Facets {
  const checked = valid(FAMILIES, families, 'Capability families');
  return Object.fromEntries(
    Object.entries(checked).filter(([name, facets]) => {
      const claim: { readonly status?: string } | undefined = Reflect.get(claims, name);
      return facets !== undefined && (experimental || claim?.status !== 'experimental');
    }),
  );
}
