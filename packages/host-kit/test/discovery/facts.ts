import { apiKeyLane, memoryKeyStore } from '@svc/auth/api-key';
import { advertisedBy } from '../../src/discovery/authentication.ts';
import type { DiscoveryOptions } from '../../src/discovery/discovery-options.ts';
import type { DiscoveryInput } from '../../src/discovery/input.ts';

/** Returns the facts about the host of these tests. */
export function facts(declared: DiscoveryOptions = {}, over: Partial<DiscoveryInput> = {}): DiscoveryInput {
  return {
    versions: ['1.1', '2.0'],
    preferred: '1.1',
    minClientVersion: '0.0',
    implementation: { name: 'n', version: '0.0.0', vendor: 'v' },
    engineVersion: 1,
    maxRequestBodyBytes: 1_048_576,
    webhooks: {
      durable: false,
      retryPolicy: { maxAttempts: 3, backoff: 'fixed', delayMs: 1000, maxDelayMs: 30_000 },
      deadLetterRetentionDays: 30,
      signatureAlgorithms: ['v1', 'standard-webhooks-1'],
      secretRotation: { overlapSeconds: 3600 },
    },
    contentEncodings: ['zstd', 'br', 'gzip'],
    workspaceFiles: undefined,
    idempotencyRetentionHours: 24,
    authentication: advertisedBy([apiKeyLane({ keys: memoryKeyStore([]) })]),
    roles: undefined,
    audit: undefined,
    workspacePath: undefined,
    declared,
    ...over,
  };
}

/** Every family that a host can declare, with every value that the interface names for it. */
export const EVERYTHING: NonNullable<DiscoveryOptions['families']> = {
  agents: { reasoning: { tokenLimit: 512 } },
  aiProviders: {
    supported: ['anthropic', 'openai', 'google', 'minimax'],
    byok: ['anthropic', 'openai', 'google'],
    policyModes: ['disabled', 'optional', 'required', 'restricted'],
    policyScopes: ['workspace', 'project', 'canvas-type'],
    errorCode: 'provider_policy_denied',
    maxInlineMediaBytes: 262_144,
  },
  a2a: { protocolVersions: ['1.0', '0.3'], preferredVersion: '1.0', profiles: ['a2a-1.0', 'a2a-0.3-legacy'] },
  artifactTypes: {},
  blobStorage: { maxObjectBytes: 52_428_800 },
  cache: { maxValueBytes: 1_048_576, maxTtlSeconds: 86_400 },
  compensation: { ordering: 'reverse-completion' },
  connections: {},
  dataResidency: { regions: ['eu', 'us'] },
  deadLetter: { retentionDays: 30 },
  demoMode: {},
  dispatch: {
    maxFanOut: 16,
    fanOutPolicies: ['sequential', 'reject', 'parallel'],
    joinModes: ['wait-all'],
    childFailureModes: ['collect', 'absorb'],
  },
  envelopes: { reliability: { maxRetryAttempts: 3, truncationBudgetMultiplier: 2 } },
  feedback: { targets: ['run', 'event', 'node'], signals: ['rating', 'correction', 'label', 'flag'] },
  fs: { maxFileSizeBytes: 52_428_800 },
  httpClient: {
    ssrfGuard: true,
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
    safeFetch: true,
    maxResponseBodyBytes: 10_485_760,
    requestTimeoutMs: 30_000,
  },
  i18n: { default: 'en', supported: ['en', 'es', 'pt-BR', 'fr'] },
  interrupts: {
    kinds: [
      ...(['approval', 'clarification', 'refinement', 'cancellation', 'external-event'] as const),
      ...(['conversation.start', 'conversation.exchange', 'conversation.close'] as const),
    ],
  },
  kanban: {},
  kvStorage: { maxKeyBytes: 1024, maxValueBytes: 1_048_576, maxTtlSeconds: 604_800 },
  mcp: {
    revisions: ['2026-07-28', '2025-06-18'],
    preferredVersion: '2026-07-28',
    profiles: ['mcp-2026-07-28', 'mcp-2025-06-18-legacy'],
    features: ['server-discover', 'mrtr', 'cacheable-lists'],
  },
  multiAgent: { executionModel: { version: 1 } },
  multiPartyConversation: { maxParticipants: 8 },
  observability: { otel: { namespace: 'svc' } },
  portability: {
    kinds: ['agent', 'pack', 'prompt-template', 'connection-ref', 'schedule', 'roster', 'org-chart'],
    dryRun: true,
  },
  prompts: {
    templateKinds: ['system', 'user', 'few-shot', 'schema-hint'],
    variableSources: ['input', 'variable', 'secret', 'context'],
    maxTemplateBytes: 65_536,
  },
  purposePropagation: {},
  queueBus: {},
  replay: { modes: ['replay', 'branch'], sideEffectSuppression: 'none' },
  secrets: { scopes: ['tenant', 'user', 'run'], resolution: 'host-managed' },
  sql: { driver: 'sqlite' },
  tableStorage: { maxRowsPerTable: 100_000, maxColumnsPerRow: 128 },
  triggerBridge: {
    sources: ['queue', 'webhook', 'email', 'form', 'stream', 'change'],
    dedupEnabled: true,
    retryPolicy: { maxAttempts: 3, backoff: 'fixed' },
    deadLetter: { retentionDays: 30 },
    ingestion: { verification: ['webhook-signature', 'email-dmarc', 'form-origin'], maxBodyBytes: 1_048_576 },
  },
  uiPlugins: { maxEntryBytes: 2_097_152, isolation: 'cross-origin-iframe' },
  vectorStore: {},
  workflowChainPacks: { subChains: { maxDepth: 8 } },
};
