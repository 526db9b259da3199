import type { Tenancy } from '@svc/auth';
import type { OwnerRecord } from '@svc/versioning/projection';
import type { JsonObject } from '../json.ts';
import type { Lookup } from '../lookup.ts';
import type { Transaction } from './transaction.ts';

/** The status of a run. @see Interface: States and transitions */
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

/** Returns true for a status that a run never leaves. */
export function isTerminal(status: RunStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** Returns true for a status in which a host executes the run, or is about to end it. */
export function isExecutable(status: RunStatus): boolean {
  return status === 'pending' || status === 'running' || status === 'cancelling';
}

/** Returns true for a status in which a question of the run is pending. */
export function isWaiting(status: RunStatus): boolean {
  return status === 'waiting-approval' || status === 'waiting-input' || status === 'waiting-external';
}

/** The error of a failed run. */
export interface RunFailure {
  readonly code: string;
  readonly message: string;
  readonly details?: JsonObject;
}

/** The protocol by which a run was requested. */
export type RunTransport = 'rest' | 'mcp' | 'a2a' | 'ui';

/** The immutable part of a run. */
export interface RunDefinition {
  readonly runId: string;
  readonly tenant: string;
  /** Absent: a run of the whole tenant. */
  readonly workspace?: string;
  readonly mode: 'live' | 'test';
  readonly workflowId: string;
  /** Absent: created by a single-tenant host. */
  readonly owner?: OwnerRecord;
  readonly inputs: JsonObject;
  readonly configurable?: JsonObject;
  readonly tags: readonly string[];
  readonly metadata?: JsonObject;
  /** The caller's own name for the run. */
  readonly scopeId?: string;
  /**
   * The conversation that the run is a turn of, as the mount that created the run names it. No response shows it, and
   * no request on the wire can set it. Absent: none.
   */
  readonly conversation?: string;
  /** Absent: `rest`. */
  readonly transport?: RunTransport;
  /** The id of the delivery that caused the run. Absent: a caller requested it. */
  readonly causationId?: string;
  /** Present for a fork. */
  readonly fork?: Fork;
  /** Present for a child: the run that started it. */
  readonly parent?: ParentRun;
  readonly engineVersion: number;
  readonly eventLogSchemaVersion: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** The mutable part of a run. It changes only together with the log, or by a stored request. */
export interface RunState {
  readonly status: RunStatus;
  /** Sequence of the newest event, -1 before the first. */
  readonly lastSequence: number;
  /** Counts the takeovers of the run; absent: 0. An execution appends events under the epoch in which it began. */
  readonly epoch?: number;
  /** Times in milliseconds since the epoch. */
  readonly startedAt?: number;
  readonly completedAt?: number;
  readonly error?: RunFailure;
  /** The started nodes that have not ended, in the order of their starts; absent: none. */
  readonly openNodes?: readonly OpenNode[];
  /** The node whose question is pending. Absent: the run does not wait. */
  readonly currentNodeId?: string;
  /** A requested pause that has not taken effect. */
  readonly pauseRequest?: PauseRequest;
  readonly pausedAt?: number;
  /** Present from the first request to cancel. */
  readonly cancelRequest?: CancelRequest;
  /** The consumption that the limits of the run count. Absent: nothing yet. */
  readonly usage?: RunUsage;
  /** Present for a run of an engine that compensates. */
  readonly compensation?: RunCompensation;
  /** The revision of the workspace's files that the run reads. Present from its start to its end, if files are served. */
  readonly filesRevision?: number;
}

/** The compensation of a run, as its log records it. */
export interface RunCompensation {
  /** The completed nodes that can be compensated: the payload of their end has `x-compensable: true`. */
  readonly compensable: number;
  /** The nodes that are to be compensated. Absent: compensation was not requested. */
  readonly requested?: number;
  /** Whether a compensation has started. Absent: no. */
  readonly isStarted?: boolean;
  /** The compensations that succeeded, and those that failed; absent: 0. */
  readonly completed?: number;
  readonly failed?: number;
}

/** The consumption of a run, as its limits count it, and the names of the secrets that it knows. */
export interface RunUsage {
  /** The executions of nodes that the engine started, retries included; absent: 0. */
  readonly nodeExecutions?: number;
  /**
   * The time in ms for which hosts have driven the run, by their monotonic clocks, up to its last step. Absent: the host
   * limits no duration, or an earlier version drove the run.
   */
  readonly drivenMs?: number;
  /** The time in ms for which the run has waited or was paused, up to its last continuation; absent: 0. */
  readonly idleMs?: number;
  /** The begin of the present wait or pause, in ms since the epoch. Absent: the run does not wait. */
  readonly idleSince?: number;
  /** The names of the secrets that the run opened, whose values are redacted from its records. */
  readonly secrets?: readonly string[];
  /** The number of effects that the run has asked for; absent: 0. */
  readonly effects?: number;
}

/** A run as it is stored: independent of majors, with its bare id. `wire/run.ts` projects it for callers. */
export interface Run extends RunDefinition, RunState {}

/** `replay` repeats its source without effects; `branch` runs on its own from its fork point. */
export type ForkMode = 'replay' | 'branch';

/** The source of a fork. */
export interface Fork {
  readonly sourceRunId: string;
  /** Events of the source's log before this sequence are fixed history. */
  readonly fromSeq: number;
  readonly mode: ForkMode;
}

/** The run that started a child. A node of a run has one child at most. */
export interface ParentRun {
  readonly runId: string;
  /** The node that started the child. */
  readonly nodeId: string;
  /** The number of runs above the child: 1 for a child of a run that has no parent. */
  readonly depth: number;
}

/** A node that has started and not ended. */
export interface OpenNode {
  readonly nodeId: string;
  /** Counts from 0. */
  readonly attempt: number;
}

/** `drain-current-node` waits for open nodes to end; `immediate` interrupts them. */
export type DrainPolicy = 'drain-current-node' | 'immediate';

/** A stored request to pause. */
export interface PauseRequest {
  readonly drainPolicy: DrainPolicy;
  readonly reason?: string;
}

/** A stored request to cancel. */
export interface CancelRequest {
  readonly reason?: string;
  /** The principal that requested it. */
  readonly by?: string;
  /** In ms since the epoch. */
  readonly at: number;
  /** A digest of the request's idempotency key, which identifies a repetition of the request. */
  readonly keyName?: string;
  /** Present for a child that is cancelled because this parent of it was, or has ended. */
  readonly parentRunId?: string;
}

/** A page of children. */
export interface ChildPage {
  /** Lists those after this id. Default: from the first. */
  readonly after?: string | undefined;
  readonly limit: number;
  /** Lists the children of this run, and this run itself if it is a child. Default: those of all runs. */
  readonly of?: string | undefined;
}

/** Stored runs. A caller reaches a run only through its tenancy. */
export interface RunStore {
  insert(run: Run, transaction: Transaction): Promise<void>;
  /** Finds a run of the caller's tenant and mode, in a workspace that the caller reaches. */
  read(tenancy: Tenancy, runId: string): Promise<Lookup<Run>>;
  /** Like `read`, in a transaction that changes the run. Locks it. */
  readForChange(tenancy: Tenancy, runId: string, transaction: Transaction): Promise<Lookup<Run>>;
  /** Lists up to `limit` runs that `read` would find, newest first; with `before`, older ones only. */
  list(
    tenancy: Tenancy,
    page: { readonly before: string | undefined; readonly limit: number },
  ): Promise<readonly Run[]>;
  /** Lists up to `limit` runs of a conversation that `read` would find, newest first. */
  ofConversation(tenancy: Tenancy, conversation: string, limit: number): Promise<readonly Run[]>;
  /**
   * Reads and locks the existing ones of these runs in a transaction. For the event log only: the host appends, not a
   * caller.
   */
  forAppend(runIds: readonly string[], transaction: Transaction): Promise<readonly Run[]>;
  /** Returns the newest sequence of each of these runs, for readers that wait for new events. Omits unknown runs. */
  lastSequences(runIds: readonly string[]): Promise<readonly (readonly [runId: string, lastSequence: number])[]>;
  /**
   * Finds a run of the same tenant, workspace, mode and `scopeId` that has not ended. Until the transaction ends, other
   * calls for the same four wait.
   */
  activeIn(run: Run, transaction: Transaction): Promise<Run | undefined>;
  /** Writes the `RunState` of runs. */
  update(runs: readonly Run[], transaction: Transaction): Promise<void>;
  /** Takes the run over for this host, in a new epoch: a host that executed it before can append no more. */
  claim(run: Run, transaction: Transaction): Promise<Run>;
  /**
   * Lists up to `limit` runs after `after`, by id, that a restarted host must execute or end. Waiting and paused runs
   * are not among them.
   */
  unfinished(page: { readonly after: string | undefined; readonly limit: number }): Promise<readonly Run[]>;
  /**
   * Returns those of these runs whose execution must stop: they left `pending` and `running`, or a pause is requested.
   */
  toStop(runIds: readonly string[]): Promise<readonly Run[]>;
  /** Finds the child of a node, in a transaction of its parent. The next transaction of the parent sees its insertion. */
  childOf(parent: Pick<ParentRun, 'runId' | 'nodeId'>, transaction: Transaction): Promise<Run | undefined>;
  /**
   * Lists up to `limit` children, by id, that have not ended and are not being cancelled although their parent has ended
   * or is being cancelled. For the host itself, not for a caller.
   */
  orphans(page: ChildPage): Promise<readonly Run[]>;
  /**
   * Lists up to `limit` children, by id, that have ended and for whose node their parent waits. For the host itself, not
   * for a caller.
   */
  awaited(page: ChildPage): Promise<readonly Run[]>;
  /**
   * Removes up to `limit` runs that ended before `endedBefore`, those that ended first, and returns their number. No
   * method finds a removed run any more. Its events, interrupts, artifacts, annotations and uses of effects stay stored
   * until `sweep`; its deliveries stay in the outbox. A run is not removed while a fork of it has not ended, because the
   * fork reads its log, nor while its parent has not, because the parent reads its outcome.
   *
   * @param request.endedBefore in ms since the epoch
   */
  removeEnded(request: { readonly endedBefore: number; readonly limit: number }): Promise<number>;
  /** Deletes up to `limit` stored records of removed runs. Returns their number; 0 when there is none. */
  sweep(limit: number): Promise<number>;
}
