export type { AdvertisedAuthentication } from './discovery/authentication.ts';
export type { WorkspaceDiscovery } from './discovery/workspace-view.ts';
export { HostError, type HostErrorCode } from './errors.ts';
export { EVENT_TYPES, type EventPayloads, type EventType } from './events/event-types.ts';
export type { HealthCheck, HealthReason, Phase } from './health/check.ts';
export type { HealthReport } from './health/health.ts';
export { createHost, type Host } from './host.ts';
export type { Answer } from './http/answer.ts';
export type { Coding } from './http/content-coding.ts';
export type { CorsOptions } from './http/cors.ts';
export { type PublicMountRoute, publicMountRoute } from './http/public-route.ts';
export { type MountCall, type MountRoute, mountRoute, type Reply } from './http/route.ts';
export type { PublicRouteLimits, UnverifiedRequest, Verified } from './http/verification.ts';
export type { Json, JsonObject } from './json.ts';
export type { Mount, MountDefinition, MountServices } from './mounts/mount.ts';
export type { AuditOptions, HostOptions, StreamOptions, WebhookOptions } from './options.ts';
export type { Artifact, NewArtifact } from './ports/artifacts.ts';
export type { AuditStore } from './ports/audit.ts';
export { type Clock, systemClock } from './ports/clock.ts';
export type { AiOptions, ConfigurableSection, RunConfigurable } from './ports/configurable.ts';
export {
  type EngineEvent,
  type EngineRefusal,
  type Execution,
  type LeaveReason,
  type NewEvent,
  type ReplayedNode,
  RunLeft,
  type RunOutcome,
  type WorkflowEngine,
} from './ports/engine.ts';
export type { RunEvent } from './ports/events.ts';
export type { InterruptAnswer, InterruptKind, InterruptRequest } from './ports/interrupts.ts';
export type { Log, LogRecord } from './ports/log.ts';
export { type Random, systemRandom } from './ports/random.ts';
export type { NewRunFile, RunFile, RunFileCondition, RunFiles } from './ports/run-files.ts';
export type { ForkMode, Run, RunFailure, RunStatus } from './ports/runs.ts';
export type { Store } from './ports/store.ts';
export type { SignatureAlgorithm } from './ports/subscriptions.ts';
export type { Transport, TransportRequest, TransportVerdict } from './ports/transport.ts';
export type { EventLog } from './runs/event-log.ts';
export type { ReaderLimits } from './streams/reader-limits.ts';
export type { TelemetryOptions } from './telemetry/scope.ts';
export { VERSION } from './version.ts';
export type { RetryPolicy } from './webhooks/retry.ts';
export { DELIVERY_JSON_SCHEMA, DELIVERY_JSON_SCHEMAS } from './wire/delivery-schema.ts';
export type { WorkspaceFileLimits } from './workspace/files.ts';
