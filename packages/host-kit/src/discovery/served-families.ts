import { z } from 'zod';
import type { HostCapabilities } from './capabilities.ts';
import { CLAIMED, type Facets } from './families.ts';
import { valid } from './valid.ts';

const FAMILIES = z.strictObject(CLAIMED).partial();

/**
 * The families to advertise, each with its limits: without the experimental ones, unless their profile is switched on.
 *
 * @throws {TypeError} for a family, a facet or a value that the interface does not know
 */
export function servedFamilies({ families = {}, claims = {}, experimental = false }: HostCapabilities): Facets {
  const checked = valid(FAMILIES, families, 'list of capability families');
  return Object.fromEntries(
    Object.entries(checked).filter(([name, facets]) => {
      const claim: { readonly status?: string } | undefined = Reflect.get(claims, name);
      return facets !== undefined && (experimental || claim?.status !== 'experimental');
    }),
  );
}
