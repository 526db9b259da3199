import { z } from 'zod';
import { LIMIT_VALUES, type Limit } from './limit-values.ts';

/** A positive integer. */
const count = z.int().min(1);
const list = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .refine(
      (items) => new Set(items.map((one) => JSON.stringify(one))).size === items.length,
      'must not repeat an entry',
    )
    // A published JSON Schema says by keywords of its own what a refinement checks.
    .meta({ uniqueItems: true });
const text = z.string().min(1).max(256);
const locale = z.string().regex(/^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/, 'must be a language tag such as en or pt-BR');
const lowerKebab = z.string().regex(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/, 'must be lower-case words joined by hyphens');
const httpsUrl = z.url({ protocol: /^https$/ });
const calendarDate = z.iso.date();
const interopVersion = z.string().regex(/^[0-9]+\.[0-9]+$/, 'must be two integers joined by a dot');

const retryPolicy = z.strictObject({ maxAttempts: count, backoff: z.enum(['none', 'fixed', 'exponential']) });
/** A family for which the interface names no facets. A host adds its own. */
const openFacets = z.looseObject({});

/** Builds the schema of a facet that is a limit. */
type Bound = (limit: Limit) => z.ZodOptional<z.ZodType<number, number | undefined>>;

/** Families of runs: their execution, their events and their questions. */
const runFacets = (bound: Bound) => ({
  compensation: z.strictObject({ ordering: z.literal('reverse-completion') }),
  deadLetter: z.strictObject({ retentionDays: bound('deadLetter.retentionDays') }),
  dispatch: z.strictObject({
    maxFanOut: bound('dispatch.maxFanOut'),
    fanOutPolicies: list(z.enum(['sequential', 'reject', 'parallel'])).optional(),
    joinModes: list(z.enum(['wait-all'])).optional(),
    childFailureModes: list(z.enum(['collect', 'absorb'])).optional(),
  }),
  eventLog: z.strictObject({ transports: list(z.enum(['poll', 'sse'])).optional() }),
  idempotency: z.strictObject({ retentionHours: z.int().min(24).optional() }),
  interrupts: z.strictObject({
    kinds: list(
      z.enum([
        ...(['approval', 'clarification', 'refinement', 'cancellation', 'external-event'] as const),
        ...(['conversation.start', 'conversation.exchange', 'conversation.close'] as const),
      ]),
    ).min(1),
    tokenAlgs: list(z.literal('hs256')).min(1).optional(),
    refKinds: list(z.enum(['principal', 'group', 'role']))
      .min(1)
      .optional(),
  }),
  observability: z.strictObject({ otel: z.strictObject({ namespace: z.literal('svc') }).optional() }),
  replay: z.strictObject({
    modes: list(z.enum(['replay', 'branch'])).min(1),
    fork: z.literal(true).optional(),
    sideEffectSuppression: z.enum(['none', 'recorded-outcome']).optional(),
    retention: z.strictObject({ days: count }).optional(),
    effectSeamsManifest: z.literal('/host/effect-seams').optional(),
  }),
  restTransport: z.strictObject({
    conditionalRunGet: z.boolean().optional(),
    contentEncodings: list(z.enum(['zstd', 'br', 'gzip'])).optional(),
  }),
  runList: z.strictObject({
    maxPageSize: count,
    filters: list(z.enum(['workflowId', 'status'])).optional(),
  }),
  triggerBridge: z.strictObject({
    sources: list(z.enum(['queue', 'webhook', 'email', 'form', 'stream', 'change', 'schedule']))
      .min(1)
      .optional(),
    dedupEnabled: z.boolean().optional(),
    retryPolicy: retryPolicy.optional(),
    deadLetter: z.strictObject({ retentionDays: bound('deadLetter.retentionDays') }).optional(),
    ingestion: z
      .strictObject({
        registrationEndpoint: z.literal('/trigger-subscriptions').optional(),
        verification: list(z.enum(['webhook-signature', 'email-dmarc', 'form-origin']))
          .min(1)
          .optional(),
        maxBodyBytes: bound('triggerBridge.ingestion.maxBodyBytes'),
      })
      .optional(),
  }),
  webhooks: z.strictObject({
    signed: z.literal(true).optional(),
    signatureAlgorithms: list(z.enum(['v1', 'standard-webhooks-1']))
      .min(1)
      .refine((algorithms) => algorithms.includes('v1'), 'must contain v1')
      .meta({ contains: { const: 'v1' } }),
    durable: z.boolean().optional(),
    retryPolicy: retryPolicy.optional(),
    deadLetter: z
      .strictObject({ retentionDays: z.number().positive(), maxPageSize: z.int().min(1).max(1000).optional() })
      .optional(),
    secretRotation: z.strictObject({ overlapSeconds: z.int().min(60).max(604_800) }).optional(),
  }),
  workflowChainPacks: z.strictObject({
    subChains: z.strictObject({ maxDepth: bound('workflowChainPacks.subChains.maxDepth') }).optional(),
  }),
});

/** Families of agents and models, and of the protocols between agents. */
const agentFacets = (bound: Bound) => ({
  agents: z.strictObject({
    reasoning: z.strictObject({ tokenLimit: bound('agents.reasoning.tokenLimit') }).optional(),
  }),
  aiProviders: z.strictObject({
    supported: list(z.enum(['anthropic', 'openai', 'google', 'minimax'])),
    byok: list(z.enum(['anthropic', 'openai', 'google'])).optional(),
    policyModes: list(z.enum(['disabled', 'optional', 'required', 'restricted'])).optional(),
    policyScopes: list(z.enum(['workspace', 'project', 'canvas-type'])).optional(),
    errorCode: z.literal('provider_policy_denied'),
    maxInlineMediaBytes: bound('aiProviders.maxInlineMediaBytes'),
  }),
  a2a: z.strictObject({
    protocolVersions: list(interopVersion).min(1),
    preferredVersion: interopVersion,
    profiles: list(z.enum(['a2a-1.0', 'a2a-0.3-legacy'])).optional(),
  }),
  envelopes: z.strictObject({
    reliability: z.strictObject({
      events: list(text).optional(),
      maxRetryAttempts: bound('envelopes.reliability.maxRetryAttempts'),
      truncationBudgetMultiplier: bound('envelopes.reliability.truncationBudgetMultiplier'),
    }),
  }),
  feedback: z.strictObject({
    targets: list(z.enum(['run', 'event', 'node'])).min(1),
    signals: list(z.enum(['rating', 'correction', 'label', 'flag'])).min(1),
  }),
  mcp: z.strictObject({
    revisions: list(calendarDate).min(1),
    preferredVersion: calendarDate,
    profiles: list(z.enum(['mcp-2026-07-28', 'mcp-2025-06-18-legacy'])).optional(),
    features: list(z.enum(['server-discover', 'mrtr', 'cacheable-lists'])).optional(),
  }),
  multiAgent: z.strictObject({ executionModel: z.strictObject({ version: z.int().min(1).max(2) }) }),
  multiPartyConversation: z.strictObject({ maxParticipants: bound('multiPartyConversation.maxParticipants') }),
  prompts: z.strictObject({
    templateKinds: list(z.enum(['system', 'user', 'few-shot', 'schema-hint'])).optional(),
    variableSources: list(z.enum(['input', 'variable', 'secret', 'context'])).optional(),
    maxTemplateBytes: bound('prompts.maxTemplateBytes'),
  }),
});

/** Families of storage and network that workflows use. */
const storageFacets = (bound: Bound) => ({
  blobStorage: z.strictObject({ maxObjectBytes: bound('blobStorage.maxObjectBytes') }),
  cache: z.strictObject({ maxValueBytes: bound('cache.maxValueBytes'), maxTtlSeconds: bound('cache.maxTtlSeconds') }),
  fs: z.strictObject({ maxFileSizeBytes: bound('fs.maxFileSizeBytes') }),
  httpClient: z.strictObject({
    ssrfGuard: z.literal(true),
    methods: list(z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])).min(1),
    safeFetch: z.boolean(),
    maxResponseBodyBytes: bound('httpClient.maxResponseBodyBytes'),
    requestTimeoutMs: bound('httpClient.requestTimeoutMs'),
  }),
  kvStorage: z.strictObject({
    maxKeyBytes: bound('kvStorage.maxKeyBytes'),
    maxValueBytes: bound('kvStorage.maxValueBytes'),
    maxTtlSeconds: bound('kvStorage.maxTtlSeconds'),
  }),
  queueBus: openFacets,
  secrets: z.strictObject({
    scopes: list(z.enum(['tenant', 'user', 'run'])).min(1),
    resolution: z.literal('host-managed'),
  }),
  sql: z.strictObject({ driver: z.enum(['sqlite']) }),
  tableStorage: z.strictObject({
    maxRowsPerTable: bound('tableStorage.maxRowsPerTable'),
    maxColumnsPerRow: bound('tableStorage.maxColumnsPerRow'),
  }),
  vectorStore: openFacets,
  workspace: z.strictObject({
    versioned: z.boolean().optional(),
    maxFileBytes: bound('workspace.maxFileBytes'),
    maxFiles: count.optional(),
    maxVersions: count.optional(),
  }),
});

/** Families of the host as a whole. */
const hostFacets = (bound: Bound) => ({
  anonymousActor: openFacets,
  artifactTypes: z.strictObject({ types: list(text).optional() }),
  authorization: z.strictObject({
    roles: list(z.strictObject({ role: text, scopes: list(text) })).optional(),
    failClosed: z.literal(true).optional(),
  }),
  connections: openFacets,
  dataResidency: z.strictObject({ regions: list(lowerKebab).min(1) }),
  demoMode: openFacets,
  i18n: z
    .strictObject({ default: locale, supported: list(locale).min(1) })
    .refine((languages) => languages.supported.includes(languages.default), 'default must be one of supported'),
  kanban: openFacets,
  portability: z.strictObject({
    kinds: list(z.enum(['agent', 'pack', 'prompt-template', 'connection-ref', 'schedule', 'roster', 'org-chart'])).min(
      1,
    ),
    dryRun: z.boolean().optional(),
  }),
  purposePropagation: openFacets,
  uiPlugins: z.strictObject({
    maxEntryBytes: bound('uiPlugins.maxEntryBytes'),
    isolation: z.literal('cross-origin-iframe').optional(),
  }),
});

/** All families, in the order in which a document lists them. */
const facetsWith = (bound: Bound) => {
  const run = runFacets(bound);
  const agent = agentFacets(bound);
  const storage = storageFacets(bound);
  const host = hostFacets(bound);
  return {
    agents: agent.agents,
    aiProviders: agent.aiProviders,
    a2a: agent.a2a,
    anonymousActor: host.anonymousActor,
    artifactTypes: host.artifactTypes,
    authorization: host.authorization,
    blobStorage: storage.blobStorage,
    cache: storage.cache,
    compensation: run.compensation,
    connections: host.connections,
    dataResidency: host.dataResidency,
    deadLetter: run.deadLetter,
    demoMode: host.demoMode,
    dispatch: run.dispatch,
    envelopes: agent.envelopes,
    eventLog: run.eventLog,
    feedback: agent.feedback,
    fs: storage.fs,
    httpClient: storage.httpClient,
    i18n: host.i18n,
    idempotency: run.idempotency,
    interrupts: run.interrupts,
    kanban: host.kanban,
    kvStorage: storage.kvStorage,
    mcp: agent.mcp,
    multiAgent: agent.multiAgent,
    multiPartyConversation: agent.multiPartyConversation,
    observability: run.observability,
    portability: host.portability,
    prompts: agent.prompts,
    purposePropagation: host.purposePropagation,
    queueBus: storage.queueBus,
    replay: run.replay,
    restTransport: run.restTransport,
    runList: run.runList,
    secrets: storage.secrets,
    sql: storage.sql,
    tableStorage: storage.tableStorage,
    triggerBridge: run.triggerBridge,
    uiPlugins: host.uiPlugins,
    vectorStore: storage.vectorStore,
    webhooks: run.webhooks,
    workflowChainPacks: run.workflowChainPacks,
    workspace: storage.workspace,
  };
};

/**
 * The schemas of the facets of every capability family that the interface names, without the members by which a major
 * claims the family. Enumerations of the protocol are closed; names that a host chooses have a pattern.
 *
 * @see Interface: Discovery document; Limits
 */
export const FACETS = facetsWith(() => count.optional()) satisfies Record<string, z.ZodType>;

const claimed = facetsWith((limit) => count.default(LIMIT_VALUES[limit]).optional());

/** The same schemas for the host's own declaration: an absent limit gets the interface's value. */
export const CLAIMED = {
  ...claimed,
  aiProviders: claimed.aiProviders.extend({
    errorCode: z.literal('provider_policy_denied').default('provider_policy_denied'),
  }),
};

/**
 * Families with a list named `supported`, which is the name of the boolean by which major 1 claims other families. In
 * major 1 the list is the claim. In major 2 it has the name given here.
 */
export const LISTED_AS_SUPPORTED: Readonly<Partial<Record<Family, string>>> = {
  aiProviders: 'providers',
  i18n: 'locales',
};

/** Families with another name in major 2. */
export const NAMED_IN_MAJOR_2 = { interrupts: 'interrupt' } as const satisfies Partial<Record<Family, string>>;

/** The name of a capability family, as major 1 spells it. */
export type Family = keyof typeof FACETS;
/** Capability families with their facets, as a host declares them. */
export type Facets = { readonly [Name in Family]?: z.input<(typeof CLAIMED)[Name]> };

/** The `limits` record. @see Interface: Limits */
export const LIMITS = z.strictObject({
  clarificationRounds: count,
  schemaRounds: count,
  envelopesPerTurn: count,
  maxNodeExecutions: count.optional(),
  maxRunDurationMs: z.int().min(1000).optional(),
  maxLoopIterations: count.optional(),
  maxBudgetTokens: count.optional(),
  maxBudgetCostUsd: z.number().positive().optional(),
  maxRequestBodyBytes: count.optional(),
});

/** Kinds of envelopes that a run can exchange. */
export const ENVELOPE_KINDS = [
  'clarification.request',
  'schema.request',
  'schema.response',
  'error',
  'media.image',
  'media.audio',
  'media.file',
  'ui.a2ui-surface',
] as const;

const version = z.string().regex(/^(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)$/, 'must be <major>.<minor>');

/** The members of both documents about the host itself. */
export const METADATA = {
  protocolVersions: list(version).min(1),
  preferredVersion: version,
  minClientVersion: version.optional(),
  implementation: z.strictObject({ name: text, version: text, vendor: text, url: httpsUrl.optional() }).optional(),
  engineVersion: z.int().min(0).optional(),
  signingKeys: z
    .array(
      z.strictObject({
        /** The id of the key: 1 to 128 of `A-Z a-z 0-9 . _ ~ -`. */
        keyId: z.string().regex(/^[A-Za-z0-9._~-]{1,128}$/, 'must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ -'),
        /** Its algorithm. */
        alg: z.literal('ed25519'),
        /** The 32 bytes of the key in base64url. */
        publicKey: z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be 43 characters of base64url'),
        /** The documents that it signs. */
        use: z.literal('certification-bundle'),
        /** Time from which the key signs nothing, ISO 8601 in UTC. Absent: it signs. */
        retiredAt: z.iso.datetime().optional(),
      }),
    )
    .optional(),
  fixtures: list(text).optional(),
} as const;

const org = '(?!svc\\.|vendor\\.|effect-seams\\.|events\\.)[a-z][a-z0-9]*(?:-[a-z0-9]+)*';

/** Extensions of a host to the protocol, by `<org>.<name>`. Some organizations are reserved for the protocol. */
export const EXTENSIONS = z.record(
  z
    .string()
    .regex(
      new RegExp(`^${org}\\.[a-z][a-z0-9]*(?:-[a-z0-9]+)*$`),
      'must be <org>.<name> in lower case, and the org must not be svc, vendor, effect-seams or events',
    ),
  z.looseObject({}),
);
/**
 * Names of families that the interface does not have. Such a name is in lower camel case.
 *
 * @see Interface: Discovery document; the root of major 2 is closed but for families
 */
export const OTHER_FAMILY = z
  .string()
  .regex(/^[a-z][A-Za-z0-9]{0,63}$/, 'must be a name in lower camel case, such as speechToText');
export { calendarDate, count, list, text, version };
