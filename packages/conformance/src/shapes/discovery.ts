import { z } from 'zod';
import { type Document, isRecord } from '../target.ts';

const VERSION = z.string().regex(/^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$/, 'must be <major>.<minor>');

/** Versions in a document of either major. @see Interface: Versioning: Advertisement */
export const ADVERTISEMENT = z.looseObject({ protocolVersions: z.array(VERSION).min(1), preferredVersion: VERSION });

/** The `limits` record. */
export const LIMITS = z.looseObject({
  clarificationRounds: z.int().min(0),
  schemaRounds: z.int().min(0),
  envelopesPerTurn: z.int().min(0),
  maxRequestBodyBytes: z.int().min(1).optional(),
});

/** Required members of the major-1 root. */
export const ROOT_1 = z.looseObject({
  protocolVersion: VERSION,
  protocolVersions: z.array(VERSION).min(1),
  preferredVersion: VERSION,
  supportedEnvelopes: z.array(z.string()),
  schemaVersions: z.record(z.string(), z.int()),
  limits: LIMITS,
});

/** Members of the major-2 root that are not records. */
export const METADATA: ReadonlySet<string> = new Set([
  'protocolVersion',
  'protocolVersions',
  'preferredVersion',
  'extensions',
  'implementation',
  'engineVersion',
  'eventLogSchemaVersion',
  'configurable',
  'observability',
  'minClientVersion',
  'runtimeCapabilities',
  'testing',
  'conformance',
  'fixtures',
  'compliance',
  'discovery',
  'signingKeys',
]);

/** Members of the major-1 root that major 2 removed. */
export const REMOVED = [
  'capabilities',
  'hostExtensions',
  'contractProvenance',
  'supportedTransports',
  'profiles',
  'grpc',
];

/** Names that an organisation cannot have in an extension. */
export const RESERVED: ReadonlySet<string> = new Set(['svc', 'vendor', 'effect-seams', 'events']);

/** A record of the major-2 root. */
export const RECORD_2 = z.looseObject({
  status: z.enum(['stable', 'experimental', 'deprecated']),
  since: VERSION,
  until: z.string().optional(),
  witness: z.enum(['witnessable-unaided', 'witnessable-gated', 'seam-gated', 'claims-check', 'negative-existence']),
});

/** Tells whether a value has the members of a major-2 record. */
export function isRecord2(value: unknown): boolean {
  return isRecord(value) && 'status' in value && 'since' in value && 'witness' in value;
}

/** Returns the records of a major-2 root. */
export function recordsOf(document: Document): readonly (readonly [name: string, record: Document])[] {
  return Object.entries(document).flatMap(([name, value]) =>
    METADATA.has(name) || !isRecord(value) ? [] : [[name, value] as const],
  );
}

export const WEBHOOKS_1 = z.looseObject({
  supported: z.literal(true),
  signed: z.literal(true),
  signatureAlgorithms: z.array(z.string()).refine((names) => names.includes('v1'), 'must list v1'),
  durable: z.boolean().optional(),
});

export const WEBHOOKS_2 = z.looseObject({
  signatureAlgorithms: z.array(z.string()).min(1),
  retryPolicy: z
    .looseObject({ maxAttempts: z.int().min(1), backoff: z.enum(['none', 'fixed', 'exponential']) })
    .optional(),
  deadLetter: z.looseObject({ retentionDays: z.number().positive() }).optional(),
});

export const SIGNING_KEYS = z.array(
  z.strictObject({
    keyId: z.string().regex(/^[A-Za-z0-9._~-]{1,128}$/),
    alg: z.literal('ed25519'),
    publicKey: z.string().min(1),
    use: z.literal('certification-bundle').optional(),
    retiredAt: z.string().optional(),
  }),
);

/** Records of other protocols, with the member that lists their versions and the form of a version. */
export const INTEROP: readonly (readonly [name: string, member: string, grammar: RegExp])[] = [
  ['a2a', 'versions', /^[0-9]+\.[0-9]+$/],
  ['a2a', 'protocolVersions', /^[0-9]+\.[0-9]+$/],
  ['mcp', 'revisions', /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/],
];
