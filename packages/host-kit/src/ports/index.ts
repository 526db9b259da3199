export type { Lookup } from '../lookup.ts';
export type {
  AccessKind,
  AccessPage,
  AccessRecord,
  AccessRecordBase,
  AccessStore,
  StoredAssignment,
  StoredBinding,
  StoredRole,
  StoredWithdrawal,
} from './access.ts';
export { ACCESS_CHANGE, lookupOf } from './access-lookup.ts';
export type { Annotation, AnnotationSignal, AnnotationStore } from './annotations.ts';
export type {
  ApiKeyChange,
  ApiKeyFeed,
  ApiKeyPage,
  ApiKeyState,
  ApiKeyStore,
  FollowedFeed,
  FollowOptions,
  QuotaHorizon,
  StoredApiKey,
} from './api-keys.ts';
export type { ApproverDirectory, ApproverPlace } from './approvers.ts';
export type { Artifact, ArtifactStore, NewArtifact } from './artifacts.ts';
export {
  ATTEMPTS_KEPT,
  type AttemptLog,
  type AttemptPhase,
  type AttemptPhaseName,
  type AttemptRecord,
} from './attempts.ts';
export type {
  AuditPage,
  AuditPosting,
  AuditQuery,
  AuditStore,
  PostingKey,
  SealableEntry,
  TreeGrowth,
} from './audit.ts';
export type { Backlog, BacklogStore } from './backlog.ts';
export type { ByokPlace, ByokSecret, ByokStore } from './byok.ts';
export {
  ANSWERS_KEPT,
  type CapturedAnswer,
  type CapturedAnswers,
  type PagedAnswer,
} from './captured-answers.ts';
export type { ChangedRow, ChangeGrant, ChangeSource, ChangeTable, ReadChangesOptions } from './changes.ts';
export type { CheckpointSink } from './checkpoint-sink.ts';
export { type ChildOutcome, ChildRefused, type ChildRequest, type ChildRun } from './child-runs.ts';
export type { Clock } from './clock.ts';
export type { AiOptions, ConfigurableSection, RunConfigurable } from './configurable.ts';
export type {
  Claim,
  ClaimedDelivery,
  ClaimedFor,
  ClaimRequest,
  ClaimRoom,
  CountedDeadLetters,
  DeadLetter,
  DeadLetterCount,
  DeadLetterCounting,
  DeadLetterCursor,
  DeadLetterSelection,
  Delivery,
  DeliveryQueue,
  EndedClaim,
  NewDelivery,
  QueuedDelivery,
  ReleasedClaim,
  Settlement,
  WaitingCursor,
  WaitingDelivery,
  WaitLimits,
} from './deliveries.ts';
export {
  type DeliveryCounts,
  type DeliveryMinute,
  type DeliverySeries,
  LATENCY_BOUNDS_MS,
  type SeriesPoint,
  type SeriesRange,
  sumOfCounts,
} from './delivery-series.ts';
export type { Effect, EffectKeying, EffectState, EffectStore, EffectUse, ListedEffect } from './effects.ts';
export type {
  AlignedSignature,
  AuthenticateEmailOptions,
  EmailAttachment,
  EmailAuthentication,
  EmailMailbox,
  EmailReader,
  ParsedEmail,
  SmtpFacts,
} from './email.ts';
export type {
  AnyEngine,
  EngineFunction,
  EngineRefusal,
  Execution,
  LeaveReason,
  NewEvent,
  ReplayedNode,
  RunOutcome,
  VersionedEngine,
  WorkflowEngine,
  WorkflowFunctions,
} from './engine.ts';
export {
  type AllEvents,
  type AllEventsPage,
  BEFORE_ALL_EVENTS,
  type EventPage,
  type EventPosition,
  type EventStore,
  type PositionedEvent,
  type RunEvent,
} from './events.ts';
export type {
  BeginOptions,
  Begun,
  IdempotencyClaim,
  IdempotencyKey,
  IdempotencyStore,
  KeptReply,
  Save,
} from './idempotency.ts';
export type {
  ApprovalAction,
  ApprovalSubject,
  ApproverRefs,
  AskedQuestion,
  ClarifyingQuestion,
  DueCursor,
  EscalationStep,
  Interrupt,
  InterruptAnswer,
  InterruptKind,
  InterruptRequest,
  InterruptStore,
  Question,
  QuestionData,
  QuestionPlace,
  QuestionTerms,
  Resolution,
  ResolverRecord,
  Vote,
} from './interrupts.ts';
export type { Log, LogRecord } from './log.ts';
export type { OpenedSecret, OpenedSecretStore } from './opened-secrets.ts';
export type { Outage } from './outage.ts';
export type {
  PortalAction,
  PortalSession,
  PortalSessionStore,
  PortalTheme,
} from './portal-sessions.ts';
export type {
  ConsumeOptions,
  QueueConnection,
  QueueConsumer,
  QueueGrant,
  QueueMessage,
  QueueVerdict,
} from './queues.ts';
export type { Random } from './random.ts';
export {
  type EffectAttempt,
  EffectNotMade,
  type EffectRequest,
  EffectUnsettled,
  type RunEffect,
} from './run-effects.ts';
export type { NewRunFile, RunFile, RunFileCondition, RunFiles } from './run-files.ts';
export type {
  CancelRequest,
  ChildPage,
  DrainPolicy,
  Fork,
  ForkMode,
  OpenNode,
  ParentRun,
  PauseRequest,
  Run,
  RunCompensation,
  RunDefinition,
  RunFailure,
  RunState,
  RunStatus,
  RunStore,
  RunTransport,
  RunUsage,
} from './runs.ts';
export type { SealingKeyStore } from './sealing-keys.ts';
export {
  firstReading,
  LEASE_EXCESS_MS,
  type PlaceClaim,
  type SourcePlace,
  type SourcePlaceStore,
  type SourceReading,
} from './source-places.ts';
export type { Store } from './store.ts';
export type { StoreFiles, StoreObserver } from './store-files.ts';
export {
  type Circuit,
  coversScope,
  type EventNumber,
  type PreviousSecret,
  type PushTarget,
  type SignatureAlgorithm,
  type Subscription,
  type SubscriptionDetails,
  type SubscriptionSecrets,
  type SubscriptionState,
  type SubscriptionStatus,
  type SubscriptionStore,
  type Topic,
} from './subscriptions.ts';
export { type Transaction, transactionMark } from './transaction.ts';
export type { ReceivedFailure, Transport, TransportRequest, TransportVerdict } from './transport.ts';
export {
  type ChangeRules,
  type EmailSource,
  type FormSource,
  type HmacSignature,
  LONGEST_MESSAGE_WAIT_MS,
  type MappedValue,
  type MessageOutcome,
  type MessagePage,
  type MissedPolicy,
  type Occurrence,
  type QueueSource,
  type ReadSource,
  type Registrar,
  type RegistrarIdentity,
  reachesTrigger,
  type ScheduleSource,
  type StreamCredential,
  type StreamSource,
  type Trigger,
  type TriggerBacklog,
  type TriggerMapping,
  type TriggerMessage,
  type TriggerOf,
  type TriggerRecord,
  type TriggerRetryPolicy,
  type TriggerRules,
  type TriggerState,
  type TriggerStore,
  type WebhookPreset,
  type WebhookSource,
} from './triggers.ts';
export { type UnreadableKind, UnreadableRecord, type UnreadableRecords } from './unreadable-record.ts';
export {
  type CallerName,
  type CallerPage,
  type CallerUse,
  compareCallers,
  compareUses,
  type MajorUse,
  type VersionDay,
  type VersionUse,
  type VersionUses,
} from './version-uses.ts';
export type { WebhookJob, WebhookJobStore } from './webhook-jobs.ts';
export type {
  NewestVersion,
  WorkspaceFile,
  WorkspaceFileHead,
  WorkspacePlace,
  WorkspaceStore,
} from './workspace.ts';
