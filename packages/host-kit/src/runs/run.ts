import type { OwnerRecord } from '@svc/versioning/projection';
import type { JsonObject } from '../json.ts';

/** @see Interface: States and transitions */
export type RunStatus =
  | 'pending'
  | 'running'
  | 'paused'
  | 'waiting-approval'
  | 'waiting-input'
  | 'waiting-external'
  | 'completed'
  | 'failed'
  | 'cancelling'
  | 'cancelled';

export interface RunFailure {
  readonly code: string;
  readonly message: string;
  readonly details?: JsonObject;
}

export type RunTransport = 'rest' | 'mcp' | 'a2a' | 'ui';

/** What never changes of a run. */
export interface RunDefinition {
  readonly runId: string;
  readonly tenant: string;
  /** Absent: a run of the whole tenant. */
  readonly workspace?: string;
  readonly mode: 'live' | 'test';
  readonly workflowId: string;
  /** Absent: the host that created it has one tenant. */
  readonly owner?: OwnerRecord;
  readonly inputs: JsonObject;
  readonly configurable?: JsonObject;
  readonly tags: readonly string[];
  readonly metadata?: JsonObject;
  /** What the caller knows it by. */
  readonly scopeId?: string;
  /** How it was asked for. Absent: `rest`. */
  readonly transport?: RunTransport;
  /** What it was started for, if something else than a caller's wish: the id of a delivery. */
  readonly causationId?: string;
  /** What it was made of, if it is a fork. */
  readonly fork?: Fork;
  readonly engineVersion: number;
  readonly eventLogSchemaVersion: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** What changes of a run, always together with its log or by a request that is stored. */
export interface RunState {
  readonly status: RunStatus;
  /** Sequence of the newest event, -1 before the first. */
  readonly lastSequence: number;
  /** How often it was taken up anew; absent: never. What executes a run appends under the epoch that it took the run up in. */
  readonly epoch?: number;
  /** Times in milliseconds since the epoch. */
  readonly startedAt?: number;
  readonly completedAt?: number;
  readonly error?: RunFailure;
  /** The nodes that have started and not ended, in the order of their starts; absent: none. */
  readonly openNodes?: readonly OpenNode[];
  /** The node that waits, while the run does. */
  readonly currentNodeId?: string;
  /** A pause that is asked for and has not come yet. */
  readonly pauseRequest?: PauseRequest;
  readonly pausedAt?: number;
  /** Kept from the moment in which a cancel was asked for. */
  readonly cancelRequest?: CancelRequest;
}

/** A run as it is stored: neutral, with its bare id. What a caller sees of it is projected by `wire/run.ts`. */
export interface Run extends RunDefinition, RunState {}

/** `replay` does what the source did and has no effect; `branch` is a run of its own. */
export type ForkMode = 'replay' | 'branch';

export interface Fork {
  readonly sourceRunId: string;
  /** What stands before it in the source's log is fixed history. */
  readonly fromSeq: number;
  readonly mode: ForkMode;
}

export interface OpenNode {
  readonly nodeId: string;
  /** From 0. */
  readonly attempt: number;
}

/** `drain-current-node` lets what is under way end first; `immediate` cuts it. */
export type DrainPolicy = 'drain-current-node' | 'immediate';

export interface PauseRequest {
  readonly drainPolicy: DrainPolicy;
  readonly reason?: string;
}

export interface CancelRequest {
  readonly reason?: string;
  /** The principal that asked. */
  readonly by?: string;
  readonly at: number;
  /** Stands for the idempotency key that it was asked under, so that whoever comes with it again is known. */
  readonly keyName?: string;
}
