/**
 * The payloads of the most frequent event types of both majors. A member that only one major sends is optional. A type
 * that is not listed has an open payload.
 */
export interface EventPayloads {
  /** The run started. */
  'run.started': RunStarted;
  /** The run completed. `durationMs` is its duration in milliseconds. */
  'run.completed': { readonly outputs?: Readonly<Record<string, unknown>>; readonly durationMs?: number };
  /** The run failed. */
  'run.failed': { readonly error: RunError; readonly failedNodeId?: string; readonly durationMs?: number };
  /** The run was cancelled. */
  'run.cancelled': {
    readonly reason?: string;
    readonly cancelledBy?: string;
    readonly durationMs?: number;
    readonly parentRunId?: string;
  };
  /** The run was paused. */
  'run.paused': {
    readonly reason?: string;
    readonly drainPolicy?: string;
    readonly interruptedNodeId?: string;
    readonly interruptedAttempt?: number;
  };
  /** The run was dead-lettered (major 1). */
  'run.dead_lettered': RunDeadLettered;
  /** The run was dead-lettered (major 2). */
  'run.dead-lettered': RunDeadLettered;
  /** A node started. */
  'node.started': { readonly nodeId: string; readonly typeId: string; readonly attempt?: number };
  /** A node completed. */
  'node.completed': { readonly nodeId: string; readonly outputs?: unknown; readonly durationMs?: number };
  /** A node failed. `attempts` is the number of its attempts. */
  'node.failed': { readonly nodeId: string; readonly error: RunError; readonly attempts?: number };
  /** A node waits for the resolution of an interrupt. */
  'node.suspended': {
    readonly nodeId: string;
    readonly interruptId: string;
    readonly kind?: string;
    readonly key?: string;
    readonly reason?: string;
  };
  /** A node continues after its interrupt was resolved. */
  'node.resumed': { readonly nodeId: string; readonly interruptId?: string; readonly resumeValue?: unknown };
  /** A node is tried again, after `delayMs` milliseconds. */
  'node.retried': {
    readonly nodeId: string;
    readonly attempt: number;
    readonly delayMs?: number;
    readonly lastError?: unknown;
  };
  /** A node was skipped. */
  'node.skipped': NodeLeft;
  /** A node was cancelled. */
  'node.cancelled': NodeLeft;
  /** An interrupt was resolved. `resolvedAt` is RFC 3339. */
  'interrupt.resolved': {
    readonly nodeId: string;
    readonly interruptId: string;
    readonly kind?: string;
    readonly resumeValue?: unknown;
    readonly resolvedAt?: string;
    readonly resolvedBy?: unknown;
    readonly reason?: string;
    readonly decision?: 'granted' | 'rejected' | 'overridden';
    readonly action?: string;
  };
  /** A node asks for an approval. */
  'approval.requested': {
    readonly nodeId: string;
    readonly artifactId?: string;
    readonly artifactType?: string;
    readonly actions?: readonly string[];
    readonly interruptId?: string;
    readonly title?: string;
    readonly approversList?: readonly string[];
    readonly requiredApprovals?: number;
  };
  /** An artifact was created. */
  'artifact.created': {
    readonly artifactId: string;
    readonly artifactType: string;
    readonly nodeId?: string;
    readonly version?: number;
    readonly summary?: string;
    readonly registered?: boolean;
  };
  /** A node produced a part of its output. `isLast` marks the last part. */
  'output.chunk': {
    readonly nodeId: string;
    readonly chunk: unknown;
    readonly isLast?: boolean;
    readonly channel?: string;
    readonly meta?: unknown;
  };
  /** A variable of the run changed. */
  'variable.changed': {
    readonly name: string;
    readonly previous?: unknown;
    readonly next?: unknown;
    readonly nodeId?: string;
  };
  /** A line was appended to the log of the run. */
  'log.appended': {
    readonly level: 'debug' | 'info' | 'warn' | 'error';
    readonly message: string;
    readonly nodeId?: string;
    readonly fields?: Readonly<Record<string, unknown>>;
  };
  /** The run pinned the version of a change. */
  'version.pinned': { readonly changeId: string; readonly version: number | string };
  /** The run reached a limit. */
  'cap.breached': { readonly kind: string; readonly limit: number; readonly observed: number };
  /** A replay diverged from its source run. */
  'replay.diverged': {
    readonly sourceRunId: string;
    readonly atSequence: number;
    readonly originalEventId?: string;
    readonly divergenceKind?: string;
    readonly divergencePoint?: unknown;
  };
  /** A request was authorized or denied. It contains no secret. */
  'authorization.decided': {
    readonly principal: unknown;
    readonly action: string;
    readonly resource: unknown;
    readonly allowed: boolean;
    readonly reason?: string;
  };
  /** A file of the workspace changed. */
  'workspace.updated': { readonly path: string; readonly version: number | string };
}

/** The payload of `run.started`. */
export interface RunStarted {
  /** The id of the workflow. */
  readonly workflowId: string;
  /** The inputs of the run. */
  readonly inputs?: Readonly<Record<string, unknown>>;
  /** The transport that started the run. */
  readonly transport?: string;
  /** The version of the engine. */
  readonly engineVersion?: number | string;
  /** The owner of the run, when the host records one. */
  readonly owner?: RunOwner;
  /** The tags of the run. */
  readonly tags?: readonly string[];
  /** The metadata of the run. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/**
 * The owner of a run: tenant, workspace and principal.
 *
 * @see Interface: Run owner (identity triple)
 */
export interface RunOwner {
  /** The tenant of the run: an opaque id. */
  readonly tenant: string;
  /** The workspace of the run: an opaque id. */
  readonly workspace?: string;
  /** The caller that started the run: an opaque id, never personal data. */
  readonly principal?: string;
  /** The kind of the caller. */
  readonly principalKind?: 'user' | 'agent' | 'anonymous';
  /** The authenticated subject behind the caller. */
  readonly subject?: Readonly<Record<string, unknown>>;
}

/** The error of a run or a node. */
export interface RunError {
  /** A stable code. */
  readonly code: string;
  /** A sentence for people. */
  readonly message: string;
  /** Further data of the error. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Whether another attempt may succeed. */
  readonly retryable?: boolean;
}

/** The payload of a dead-lettered run. */
export interface RunDeadLettered {
  /** The id of the run. */
  readonly runId: string;
  /** The reason of the last failure. */
  readonly reason: string;
  /** The number of attempts. */
  readonly attempts: number;
  /** The node that failed last. */
  readonly nodeId?: string;
}

/** The payload of a node that was skipped or cancelled. */
export interface NodeLeft {
  /** The id of the node. */
  readonly nodeId: string;
  /** The reason, as text. */
  readonly reason?: string;
}
