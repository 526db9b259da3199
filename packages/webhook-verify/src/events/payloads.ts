/**
 * What the payloads of the commonest event types carry, in both vocabularies. Members that only one major sends are optional. A type
 * that is not here arrives with an open payload.
 */
export interface EventPayloads {
  'run.started': RunStarted;
  'run.completed': { readonly outputs?: Readonly<Record<string, unknown>>; readonly durationMs?: number };
  'run.failed': { readonly error: RunError; readonly failedNodeId?: string; readonly durationMs?: number };
  'run.cancelled': {
    readonly reason?: string;
    readonly cancelledBy?: string;
    readonly durationMs?: number;
    readonly parentRunId?: string;
  };
  'run.paused': {
    readonly reason?: string;
    readonly drainPolicy?: string;
    readonly interruptedNodeId?: string;
    readonly interruptedAttempt?: number;
  };
  'run.dead_lettered': RunDeadLettered;
  'run.dead-lettered': RunDeadLettered;
  'node.started': { readonly nodeId: string; readonly typeId: string; readonly attempt?: number };
  'node.completed': { readonly nodeId: string; readonly outputs?: unknown; readonly durationMs?: number };
  'node.failed': { readonly nodeId: string; readonly error: RunError; readonly attempts?: number };
  'node.suspended': {
    readonly nodeId: string;
    readonly interruptId: string;
    readonly kind?: string;
    readonly key?: string;
    readonly reason?: string;
  };
  'node.resumed': { readonly nodeId: string; readonly interruptId?: string; readonly resumeValue?: unknown };
  'node.retried': {
    readonly nodeId: string;
    readonly attempt: number;
    readonly delayMs?: number;
    readonly lastError?: unknown;
  };
  'node.skipped': NodeLeft;
  'node.cancelled': NodeLeft;
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
  'artifact.created': {
    readonly artifactId: string;
    readonly artifactType: string;
    readonly nodeId?: string;
    readonly version?: number;
    readonly summary?: string;
    readonly registered?: boolean;
  };
  'output.chunk': {
    readonly nodeId: string;
    readonly chunk: unknown;
    readonly isLast?: boolean;
    readonly channel?: string;
    readonly meta?: unknown;
  };
  'variable.changed': {
    readonly name: string;
    readonly previous?: unknown;
    readonly next?: unknown;
    readonly nodeId?: string;
  };
  'log.appended': {
    readonly level: 'debug' | 'info' | 'warn' | 'error';
    readonly message: string;
    readonly nodeId?: string;
    readonly fields?: Readonly<Record<string, unknown>>;
  };
  'version.pinned': { readonly changeId: string; readonly version: number | string };
  'cap.breached': { readonly kind: string; readonly limit: number; readonly observed: number };
  'replay.diverged': {
    readonly sourceRunId: string;
    readonly atSequence: number;
    readonly originalEventId?: string;
    readonly divergenceKind?: string;
    readonly divergencePoint?: unknown;
  };
  'authorization.decided': {
    readonly principal: unknown;
    readonly action: string;
    readonly resource: unknown;
    readonly allowed: boolean;
    readonly reason?: string;
  };
  'workspace.updated': { readonly path: string; readonly version: number | string };
}

export interface RunStarted {
  readonly workflowId: string;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly transport?: string;
  readonly engineVersion?: number | string;
  readonly owner?: RunOwner;
  readonly tags?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** @see Interface: Run owner (identity triple) */
export interface RunOwner {
  readonly tenant: string;
  readonly workspace?: string;
  readonly principal?: string;
  readonly principalKind?: 'user' | 'agent' | 'anonymous';
  readonly subject?: Readonly<Record<string, unknown>>;
}

export interface RunError {
  readonly code: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly retryable?: boolean;
}

export interface RunDeadLettered {
  readonly runId: string;
  readonly reason: string;
  readonly attempts: number;
  readonly nodeId?: string;
}

export interface NodeLeft {
  readonly nodeId: string;
  readonly reason?: string;
}
