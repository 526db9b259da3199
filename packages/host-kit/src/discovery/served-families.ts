import { z } from 'zod';
import { KIT_FAMILIES } from './described-families.ts';
import type { DiscoveryOptions } from './discovery-options.ts';
import { CLAIMED, FACETS, type Facets, METADATA, OTHER_FAMILY } from './families.ts';
import type { Claim } from './schema-v2.ts';
import { valid } from './valid.ts';

/** The declared families of a host, checked, with their limits filled in. */
export interface ServedFamilies {
  /** Families of the interface. */
  readonly known: Facets;
  /** Families that the interface does not have. */
  readonly others: Readonly<Record<string, object>>;
  /** The claims of both in major 2, where they differ from the usual one. */
  readonly claims: Readonly<Record<string, Partial<Claim>>>;
}

/**
 * Returns the declared families. Experimental families are left out unless `experimental` is true.
 *
 * @throws {TypeError} when the interface does not know a family, a facet or a value, when the kit describes the family
 *   itself, or when the name of another family is taken
 */
export function servedFamilies(options: DiscoveryOptions): ServedFamilies {
  const { families = {}, otherFamilies = {}, experimental = false } = options;
  for (const name of KIT_FAMILIES) if (name in families) throw new TypeError(isDescribed(name));
  const checked = valid(FAMILIES, families, 'Capability families');
  const declared = valid(OTHERS, otherFamilies, 'discovery.otherFamilies');
  for (const name of Object.keys(declared)) if (TAKEN.has(name)) throw new TypeError(isTaken(name));
  const claims: Record<string, Partial<Claim>> = {
    ...options.claims,
    ...Object.fromEntries(Object.entries(declared).map(([name, { claim = {} }]) => [name, claim])),
  };
  const isServed = ([name, facets]: [string, unknown]) =>
    facets !== undefined && (experimental || claims[name]?.status !== 'experimental');
  const others = Object.entries(declared).map(([name, { facets = {} }]): [string, object] => [name, facets]);
  return {
    known: Object.fromEntries(Object.entries(checked).filter(isServed)),
    others: Object.fromEntries(others.filter(isServed)),
    claims,
  };
}

const FAMILIES = z.strictObject(CLAIMED).partial();

const OTHERS = z.record(
  OTHER_FAMILY,
  z.strictObject({ facets: z.looseObject({}).optional(), claim: z.looseObject({}).optional() }),
);

/** Members of a root in one of the majors, or in both. Some are removed in major 2 and must not come back as a family. */
const TAKEN: ReadonlySet<string> = new Set([
  ...Object.keys(FACETS),
  ...Object.keys(METADATA),
  ...[
    'interrupt',
    'auth',
    'auditLogIntegrity',
    'limits',
    'capabilities',
    'discovery',
    'extensions',
    'profiles',
    'grpc',
  ],
  ...['protocolVersion', 'eventLogSchemaVersion', 'supportedEnvelopes', 'schemaVersions', 'supportedTransports'],
  ...['streamModes', 'contractProvenance', 'hostExtensions', 'configurable', 'runtimeCapabilities', 'testing'],
  ...['conformance', 'compliance'],
]);

function isDescribed(name: string): string {
  return `discovery.families.${name}: the kit describes this family itself, from the options of createHost. Remove it.`;
}

function isTaken(name: string): string {
  return `discovery.otherFamilies.${name}: the interface has a member of this name. Use another name, or \`families\`.`;
}
