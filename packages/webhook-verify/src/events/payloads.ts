/**
 * What the payloads of the commonest event types carry, in both vocabularies. Members that only one major sends are optional.
 * A type that is not here arrives with an unknown payload.
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
  'run.paused': { readonly reason?: string; readonly drainPolicy?: string };
  'run.resumed': Readonly<Record<string, unknown>>;
  'node.started': { readonly nodeId: string; readonly typeId: string; readonly attempt?: number };
  'node.completed': { readonly nodeId: string; readonly outputs?: unknown; readonly durationMs?: number };
  'node.failed': { readonly nodeId: string; readonly error: RunError; readonly attempts?: number };
  'approval.requested': {
    readonly nodeId: string;
    readonly artifactId: string;
    readonly artifactType: string;
    readonly actions: readonly string[];
    readonly interruptId?: string;
    readonly title?: string;
  };
  'artifact.created': {
    readonly artifactId: string;
    readonly artifactType: string;
    readonly nodeId?: string;
    readonly version?: number;
    readonly summary?: string;
  };
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
