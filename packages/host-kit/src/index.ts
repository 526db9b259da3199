export type {
  AccessParts,
  ConfiguredAssignment,
  ConfiguredRoles,
  ConfiguredWorkload,
  ConfiguredWorkloads,
  IssuerGrant,
  StoredAccess,
} from './access/access-model.ts';
export { type StoredAccessOptions, storedAccess } from './access/stored-access.ts';
export { type AnchorOptions, AuditLogError, compareWithSink } from './audit/anchor.ts';
export { checkpointFile } from './audit/checkpoint-file.ts';
export type { RecordAudit } from './audit/fact.ts';
export type { DiscoveryOptions, Facets, Family } from './discovery/discovery-options.ts';
export type { WorkspaceDiscovery } from './discovery/workspace-view.ts';
export {
  type FieldProblem,
  HostError,
  type HostErrorCode,
  type HostErrorDetails,
  type HostErrorOptions,
  type RunStatusDetails,
} from './errors.ts';
export type { EventPayloads, PayloadOf } from './events/event-types.ts';
export type { PayloadProblem, PayloadShape } from './events/shape.ts';
export type { HealthCheck, HealthReason, Phase } from './health/check.ts';
export type { HealthReport } from './health/health.ts';
export { createHost, type Host } from './host.ts';
export { HOST_SCOPES } from './host-scopes.ts';
export type { Answer } from './http/answer.ts';
export type { Coding } from './http/content-coding.ts';
export type { CorsOptions } from './http/cors.ts';
export type {
  AnswerDescription,
  AnswerHeader,
  Answers,
  ByMajor,
  ErrorCode,
  MountDescription,
  RouteCredential,
} from './http/description.ts';
export { type PublicMountRoute, publicMountRoute } from './http/public-route.ts';
export type { RefusedRequest } from './http/refusal.ts';
export type { RequestFault } from './http/request-fault.ts';
export { type MountCall, type MountRoute, mountRoute, type Reply } from './http/route.ts';
export type { SignInRule } from './http/sign-in-rules.ts';
export type {
  OpenedRequest,
  PublicRouteLimits,
  RouteVerification,
  UnverifiedRequest,
  Verified,
} from './http/verification.ts';
export type { Json, JsonObject } from './json.ts';
export type { ConfiguredKey } from './keys/import.ts';
export type { KeyParts } from './keys/key-parts.ts';
export { addressBlockProblem } from './keys/restrictions.ts';
export { type StoredKeys, type StoredKeysOptions, type StoredKeysParts, storedKeys } from './keys/stored-keys.ts';
export {
  type BackChannelLogoutOptions,
  backChannelLogoutMount,
  type LogoutAnswer,
} from './mounts/back-channel-logout.ts';
export type { CallerRuns, MountCaller, RunArtifact } from './mounts/caller-runs.ts';
export type { Mount, MountDefinition, MountServices } from './mounts/mount.ts';
export type { RequestRate } from './mounts/trigger-ingest.ts';
export type { AuditOptions } from './options/audit-options.ts';
export type { AuthorizationOptions } from './options/authorization-options.ts';
export type { CaptureOptions } from './options/capture-options.ts';
export type { DebugBundleKeys } from './options/debug-bundle-keys.ts';
export type { FeatureOptions } from './options/feature-options.ts';
export type { HttpOptions } from './options/http-options.ts';
export type { MirrorOptions } from './options/mirror-options.ts';
export type { PortOptions } from './options/port-options.ts';
export type { PortalOptions } from './options/portal-options.ts';
export type { ProtocolOptions } from './options/protocol-options.ts';
export type { RetentionOptions } from './options/retention-options.ts';
export type { StreamOptions } from './options/stream-options.ts';
export type { EmailOptions, StreamReadingOptions, TriggerOptions } from './options/trigger-options.ts';
export type { WebhookOptions, WebhookSettings } from './options/webhook-options.ts';
export type { HostOptions } from './options.ts';
export type { ApproverDirectory, ApproverPlace } from './ports/approvers.ts';
export type { Artifact, NewArtifact } from './ports/artifacts.ts';
export type {
  AuditPage,
  AuditPosting,
  AuditQuery,
  AuditStore,
  PostingKey,
  SealableEntry,
  TreeGrowth,
} from './ports/audit.ts';
export type { CheckpointSink } from './ports/checkpoint-sink.ts';
export { type Clock, systemClock } from './ports/clock.ts';
export type { AiOptions, ConfigurableSection, RunConfigurable } from './ports/configurable.ts';
export {
  type AnyEngine,
  type EngineEvent,
  type EngineFunction,
  type EngineRefusal,
  type Execution,
  type LeaveReason,
  type NewEvent,
  type ReplayedNode,
  RunLeft,
  type RunOutcome,
  type VersionedEngine,
  type WorkflowEngine,
  type WorkflowFunctions,
} from './ports/engine.ts';
export type { RunEvent } from './ports/events.ts';
export type {
  ApprovalAction,
  ApprovalSubject,
  ApproverRefs,
  AskedQuestion,
  ClarifyingQuestion,
  EscalationStep,
  InterruptAnswer,
  InterruptKind,
  InterruptRequest,
  Question,
  QuestionData,
  QuestionPlace,
  QuestionTerms,
} from './ports/interrupts.ts';
export type { Log, LogRecord } from './ports/log.ts';
export { type Random, systemRandom } from './ports/random.ts';
export {
  type EffectAttempt,
  EffectNotMade,
  type EffectRequest,
  EffectUnsettled,
  type RunEffect,
} from './ports/run-effects.ts';
export type { NewRunFile, RunFile, RunFileCondition, RunFiles } from './ports/run-files.ts';
export type { ForkMode, Run, RunFailure, RunStatus } from './ports/runs.ts';
export { SchemaVersionError } from './ports/schema-version.ts';
export type { SealedRecord } from './ports/sealed-record.ts';
export type { Store } from './ports/store.ts';
export type { StoreClock } from './ports/store-clock.ts';
export type { SignatureAlgorithm } from './ports/subscriptions.ts';
export type { ReceivedFailure, Transport, TransportRequest, TransportVerdict } from './ports/transport.ts';
export { type WrappedMembers, wrapEngine } from './ports/wrap-engine.ts';
export type { RunRequest } from './runs/create.ts';
export type { EventLog } from './runs/event-log.ts';
export type { RunPage, RunQuery } from './runs/list.ts';
export { type KeyCoverage, keyCoverageOf } from './sealing/key-coverage.ts';
export type { SecretKey, SecretKeys } from './sealing/secret-key.ts';
export type { ReaderLimits } from './streams/reader-limits.ts';
export type { TelemetryOptions } from './telemetry/scope.ts';
export { VERSION } from './version.ts';
export type { AskedPush, RunPushes } from './webhooks/push.ts';
export type { PushFormat, PushFormats } from './webhooks/push-format.ts';
export type { RetryPolicy } from './webhooks/retry.ts';
export { DELIVERY_JSON_SCHEMAS } from './wire/delivery-schema.ts';
export type { WorkspaceFileLimits } from './workspace/files.ts';
