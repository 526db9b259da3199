import { z } from 'zod';
import { AUTH_SCOPED } from './auth-scoped.ts';
import { AUDIT_V2, AUTH_V2 } from './authentication-records.ts';
import {
  calendarDate,
  ENVELOPE_KINDS,
  EXTENSIONS,
  FACETS,
  type Family,
  LIMITS,
  LISTED_AS_SUPPORTED,
  METADATA,
  NAMED_IN_MAJOR_2,
  version,
} from './families.ts';

/** The members of every record of major 2 about its claim. The presence of the record makes the claim. */
export const CLAIM = z.strictObject({
  status: z.enum(['stable', 'experimental', 'deprecated']),
  since: version,
  until: z.union([version, calendarDate]).optional(),
  witness: z.enum(['witnessable-unaided', 'witnessable-gated', 'seam-gated', 'claims-check', 'negative-existence']),
});

/** A claim: the maturity of a family, the versions that serve it, and how it can be verified. */
export type Claim = z.infer<typeof CLAIM>;

type NameIn2<Name extends Family> = Name extends keyof typeof NAMED_IN_MAJOR_2 ? (typeof NAMED_IN_MAJOR_2)[Name] : Name;
type RecordsV2 = { readonly [Name in Family as NameIn2<Name>]: z.ZodType<unknown> };

/** The rule about `until`, for the published JSON Schema. */
const UNTIL = [
  { type: 'object', properties: { status: { const: 'stable' }, until: false } },
  {
    type: 'object',
    properties: { status: { enum: ['experimental', 'deprecated'] }, until: {} },
    required: ['until'],
  },
];

/** Returns the schema of a record: facets and claim. */
function recordV2(facets: z.ZodObject): z.ZodType {
  return facets
    .safeExtend(CLAIM.shape)
    .refine(
      ({ status, until }) => (status === 'stable') === (until === undefined),
      'until must be present for status experimental or deprecated, and absent for stable',
    )
    .meta({ anyOf: UNTIL })
    .optional();
}

/** Returns the name of a family at the root of major 2's document. */
export function nameInMajor2(name: string): string {
  const named: unknown = Reflect.get(NAMED_IN_MAJOR_2, name);
  return typeof named === 'string' ? named : name;
}

/** Renames a facet that is called `supported` in major 1. */
function renamed(name: string, facets: z.ZodObject): z.ZodObject {
  const listed = Reflect.get(LISTED_AS_SUPPORTED, name);
  if (typeof listed !== 'string') return facets;
  const { supported, ...others } = facets.shape;
  return z.strictObject({ ...others, [listed]: supported });
}

/** In major 2 every delivery is durable, so the facet is gone. */
const FACETS_V2 = { ...FACETS, webhooks: FACETS.webhooks.omit({ durable: true }) };

const families = Object.fromEntries(
  Object.entries(FACETS_V2).map(([name, facets]) => [nameInMajor2(name), recordV2(renamed(name, facets))]),
) as RecordsV2;
const kinds = z.partialRecord(z.enum(ENVELOPE_KINDS), z.literal(1));

/** The document of major 2. Its root is closed: every member that is no metadata is the record of a family. */
export const DISCOVERY_V2 = z
  .strictObject({
    ...METADATA,
    protocolVersion: version.optional(),
    eventLogSchemaVersion: z.int().min(3).optional(),
    extensions: EXTENSIONS.optional(),
    ...families,
    auth: recordV2(AUTH_V2),
    auditLogIntegrity: recordV2(AUDIT_V2),
    limits: recordV2(LIMITS),
    supportedEnvelopes: recordV2(z.strictObject({ kinds: z.array(z.enum(ENVELOPE_KINDS)) })),
    schemaVersions: recordV2(z.strictObject({ kinds })),
    discovery: AUTH_SCOPED.optional(),
  })
  // The interface lets any other key be a family of the host's own.
  .catchall(z.looseObject(CLAIM.shape))
  .refine(
    (document) => document.protocolVersions.includes(document.preferredVersion),
    'preferredVersion must be one of protocolVersions',
  );

/** A discovery document of major 2. */
export type DiscoveryV2 = z.infer<typeof DISCOVERY_V2>;
