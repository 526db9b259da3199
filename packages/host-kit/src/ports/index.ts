export type { Artifact, ArtifactStore, NewArtifact } from './artifacts.ts';
export {
  ATTEMPTS_KEPT,
  type AttemptLog,
  type AttemptPhase,
  type AttemptPhaseName,
  type AttemptRecord,
} from './attempts.ts';
export type { AuditStore } from './audit.ts';
export type { Backlog, BacklogStore } from './backlog.ts';
export type { ByokPlace, ByokSecret, ByokStore } from './byok.ts';
export type { Clock } from './clock.ts';
export type { AiOptions, ConfigurableSection, RunConfigurable } from './configurable.ts';
export {
  type Claim,
  type ClaimedDelivery,
  type ClaimRequest,
  DEAD_LETTERS_PER_PAGE,
  type DeadLetter,
  type DeadLetterCursor,
  type Delivery,
  type DeliveryQueue,
  type EndedClaim,
  type QueuedDelivery,
  type RemainingCapacity,
  type Settlement,
  type WaitingCursor,
  type WaitingDelivery,
} from './deliveries.ts';
export type {
  EngineRefusal,
  Execution,
  LeaveReason,
  NewEvent,
  ReplayedNode,
  RunOutcome,
  WorkflowEngine,
} from './engine.ts';
export type { EventPage, EventStore, RunEvent } from './events.ts';
export type {
  BeginOptions,
  Begun,
  IdempotencyClaim,
  IdempotencyKey,
  IdempotencyStore,
  KeptReply,
} from './idempotency.ts';
export type {
  Interrupt,
  InterruptAnswer,
  InterruptKind,
  InterruptRequest,
  InterruptStore,
  Resolution,
  ResolverRecord,
  Vote,
} from './interrupts.ts';
export type { Log, LogRecord } from './log.ts';
export type { Random } from './random.ts';
export type { NewRunFile, RunFile, RunFileCondition, RunFiles } from './run-files.ts';
export type {
  CancelRequest,
  DrainPolicy,
  Fork,
  ForkMode,
  OpenNode,
  PauseRequest,
  Run,
  RunDefinition,
  RunFailure,
  RunState,
  RunStatus,
  RunStore,
  RunTransport,
  RunUsage,
} from './runs.ts';
export type { Store } from './store.ts';
export {
  type Circuit,
  coversScope,
  type EventNumber,
  type Outage,
  type PreviousSecret,
  type PushTarget,
  READING_GOOD_FOR_MS,
  type SignatureAlgorithm,
  type Subscription,
  type SubscriptionDetails,
  type SubscriptionSecrets,
  type SubscriptionState,
  type SubscriptionStatus,
  type SubscriptionStore,
  type Topic,
} from './subscriptions.ts';
export type { Transaction } from './transaction.ts';
export type { Transport, TransportRequest, TransportVerdict } from './transport.ts';
export type { WebhookJob, WebhookJobStore } from './webhook-jobs.ts';
export type {
  NewestVersion,
  WorkspaceFile,
  WorkspaceFileHead,
  WorkspacePlace,
  WorkspaceStore,
} from './workspace.ts';
