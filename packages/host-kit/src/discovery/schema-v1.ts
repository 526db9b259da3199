import { z } from 'zod';
import { AUTH_SCOPED } from './auth-scoped.ts';
import { AUTH_V1 } from './authentication-records.ts';
import {
  ENVELOPE_KINDS,
  EXTENSIONS,
  FACETS,
  type Family,
  LIMITS,
  LISTED_AS_SUPPORTED,
  METADATA,
  version,
} from './families.ts';

type RecordsV1 = { readonly [Name in Family]: z.ZodType<unknown> };

/** Returns the schema of a record: supported with its facets, not supported, or absent. */
function recordV1(name: string, facets: z.ZodObject): z.ZodType {
  if (name in LISTED_AS_SUPPORTED) return facets.optional();
  return z
    .union([facets.safeExtend({ supported: z.literal(true) }), z.strictObject({ supported: z.literal(false) })])
    .optional();
}

const families = Object.fromEntries(
  Object.entries(FACETS).map(([name, facets]) => [name, recordV1(name, facets)]),
) as RecordsV1;

/** A family that the interface does not have. */
const otherRecord = z.looseObject({ supported: z.boolean() });

const records = z.strictObject({ ...families, auth: AUTH_V1.optional() }).catchall(otherRecord);

/**
 * The document of major 1 as this kit publishes it. The interface allows unknown keys at the root; this schema accepts
 * them for records of families alone.
 */
export const DISCOVERY_V1 = z
  .strictObject({
    ...METADATA,
    protocolVersion: version,
    eventLogSchemaVersion: z.int().min(2).optional(),
    supportedEnvelopes: z.array(z.enum(ENVELOPE_KINDS)),
    schemaVersions: z.partialRecord(z.enum([...ENVELOPE_KINDS, 'runEvent', 'capabilities']), z.literal(1)),
    limits: LIMITS,
    supportedTransports: z.array(z.enum(['rest', 'sse'])).optional(),
    streamModes: z.array(z.enum(['values', 'updates', 'messages', 'debug'])).optional(),
    contractProvenance: z.strictObject({ suiteVersion: z.string().regex(/^[0-9]+\.[0-9]+\.[0-9]+$/) }).optional(),
    hostExtensions: z
      .strictObject({
        featureSurfaces: z.array(z.string().regex(/^host\.sample\.[a-z0-9-]+$/, 'must be host.sample.<name>')),
      })
      .optional(),
    extensions: EXTENSIONS.optional(),
    discovery: AUTH_SCOPED.optional(),
    ...records.shape,
    capabilities: records,
  })
  .catchall(otherRecord)
  .refine(
    (document) => document.protocolVersions.includes(document.preferredVersion),
    'preferredVersion must be one of protocolVersions',
  );

/** A discovery document of major 1. */
export type DiscoveryV1 = z.infer<typeof DISCOVERY_V1>;
