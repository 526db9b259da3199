export type { AuditStore } from './audit/audit-store.ts';
export { type Clock, systemClock } from './clock.ts';
export type { AuthenticationFacts } from './discovery/authentication.ts';
export { HostError, type HostErrorCode } from './errors.ts';
export type { HealthCheck, HealthReason } from './health/check.ts';
export type { HealthReport } from './health/health.ts';
export { createHost, type Host } from './host.ts';
export type { InterruptAnswer, InterruptKind, InterruptRequest } from './interrupts/interrupt.ts';
export type { Json, JsonObject } from './json.ts';
export type { Log, LogRecord } from './log.ts';
export type { MountDefinition } from './mounts/mount.ts';
export type { AuditOptions, HostOptions, StreamOptions, WebhookOptions } from './options.ts';
export { type Random, systemRandom } from './random.ts';
export type { Artifact, NewArtifact } from './runs/artifact.ts';
export {
  type EngineRefusal,
  type Execution,
  type LeaveReason,
  type NewEvent,
  RunLeft,
  type RunOutcome,
  type WorkflowEngine,
} from './runs/engine.ts';
export type { EventLog } from './runs/event-log.ts';
export type { RunEvent } from './runs/event-store.ts';
export type { Run, RunFailure, RunStatus } from './runs/run.ts';
export type { Store } from './stores/store.ts';
export type { TelemetryOptions } from './telemetry/scope.ts';
export { VERSION } from './version.ts';
export type { Transport, TransportRequest, TransportVerdict } from './webhooks/transport.ts';
export { DELIVERY_JSON_SCHEMA } from './wire/delivery-schema.ts';
