/**
 * The value of each limit for a host that serves the limit's family and declares no value.
 *
 * @see Interface: Limits, the values of the reference host
 */
export const LIMIT_VALUES = {
  'limits.clarificationRounds': 5,
  'limits.schemaRounds': 3,
  'limits.envelopesPerTurn': 32,
  'limits.maxNodeExecutions': 1000,
  'limits.maxRunDurationMs': 600_000,
  'limits.maxRequestBodyBytes': 1_048_576,
  'workspace.maxFileBytes': 65_536,
  'uiPlugins.maxEntryBytes': 2_097_152,
  'dispatch.maxFanOut': 16,
  'triggerBridge.ingestion.maxBodyBytes': 1_048_576,
  'httpClient.maxResponseBodyBytes': 10_485_760,
  'httpClient.requestTimeoutMs': 30_000,
  'fs.maxFileSizeBytes': 52_428_800,
  'kvStorage.maxKeyBytes': 1024,
  'kvStorage.maxValueBytes': 1_048_576,
  'kvStorage.maxTtlSeconds': 604_800,
  'tableStorage.maxRowsPerTable': 100_000,
  'tableStorage.maxColumnsPerRow': 128,
  'cache.maxValueBytes': 1_048_576,
  'cache.maxTtlSeconds': 86_400,
  'blobStorage.maxObjectBytes': 52_428_800,
  'deadLetter.retentionDays': 30,
  'prompts.maxTemplateBytes': 65_536,
  'multiPartyConversation.maxParticipants': 8,
  'workflowChainPacks.subChains.maxDepth': 8,
  'envelopes.reliability.maxRetryAttempts': 3,
  'envelopes.reliability.truncationBudgetMultiplier': 2,
  'aiProviders.maxInlineMediaBytes': 262_144,
  'agents.reasoning.tokenLimit': 512,
} as const;

export type Limit = keyof typeof LIMIT_VALUES;
