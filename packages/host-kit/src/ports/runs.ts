import type { Tenancy } from '@svc/auth';
import type { OwnerRecord } from '@svc/versioning/projection';
import type { JsonObject } from '../json.ts';
import type { Lookup } from '../lookup.ts';
import type { Transaction } from './transaction.ts';

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

export function isTerminal(status: RunStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** Whether a host has something to do for a run of this status: it is to be driven, or brought to its end. */
export function isExecutable(status: RunStatus): boolean {
  return status === 'pending' || status === 'running' || status === 'cancelling';
}

export function isWaiting(status: RunStatus): boolean {
  return status === 'waiting-approval' || status === 'waiting-input' || status === 'waiting-external';
}

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

/** Runs, reachable for a caller only through its tenancy. */
export interface RunStore {
  insert(run: Run, transaction: Transaction): Promise<void>;
  /** The run, if the caller's tenant and mode own it and its workspace is within reach. */
  read(tenancy: Tenancy, runId: string): Promise<Lookup<Run>>;
  /** The same, as the run stands inside the transaction, for what a caller changes of it. */
  readForChange(tenancy: Tenancy, runId: string, transaction: Transaction): Promise<Lookup<Run>>;
  /** Up to `limit` runs that `read` would find, newest first, those before `before` only. */
  list(
    tenancy: Tenancy,
    page: { readonly before: string | undefined; readonly limit: number },
  ): Promise<readonly Run[]>;
  /**
   * Of these runs those that there are, as they stand inside the transaction, for the event log alone: what appends is the host, not a
   * caller.
   */
  forAppend(runIds: readonly string[], transaction: Transaction): Promise<readonly Run[]>;
  /** The newest sequence of each of these runs, for those who hold them and wait for more. An unknown run is left out. */
  lastSequences(runIds: readonly string[]): Promise<readonly (readonly [runId: string, lastSequence: number])[]>;
  /**
   * A run of the same tenant, workspace, mode and `scopeId` that has not ended. Until the transaction ends no other one asks the
   * same.
   */
  activeIn(run: Run, transaction: Transaction): Promise<Run | undefined>;
  /** Writes what may change of runs: their state. */
  update(runs: readonly Run[], transaction: Transaction): Promise<void>;
  /** From now on this host drives the run, and whoever did before appends nothing more. */
  claim(run: Run, transaction: Transaction): Promise<Run>;
  /**
   * Up to `limit` runs for which there is something to do, by their ids, those after `after` only: what a restarted host takes up
   * again. Runs that wait or are paused are not among them.
   */
  unfinished(page: { readonly after: string | undefined; readonly limit: number }): Promise<readonly Run[]>;
  /** Of these runs those that are not just to be driven on: one that left `pending` and `running`, or is to be paused. */
  disturbed(runIds: readonly string[]): Promise<readonly Run[]>;
}
