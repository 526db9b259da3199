/**
 * The payloads of the event types whose members the interface names, in the names of both majors. An event type that is
 * not listed has an open payload.
 *
 * A member that one major requires and the other does not is optional. Where the majors send different forms, the
 * payload is a union, and `undefined` in a required member of one form shows the other form.
 *
 * @example
 * import type { EventPayloads } from '@svc/webhook-verify/events';
 *
 * function titleOf(payload: EventPayloads['approval.requested']): unknown {
 *   // Major 2 has the question in `data`. In major 1, its members are those of the payload.
 *   return payload.data === undefined ? payload.title : payload.data.title;
 * }
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
    readonly drainPolicy?: 'drain-current-node' | 'immediate';
    readonly interruptedNodeId?: string;
    readonly interruptedAttempt?: number;
  };
  /** The run was resumed. The host of the run decides about the members. */
  'run.resumed': Readonly<Record<string, unknown>>;
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
  /** A node asks a question of any kind. */
  'interrupt.requested': EachMajor<PlacedQuestionPayload, QuestionPayload>;
  /** An interrupt was resolved. */
  'interrupt.resolved': EachMajor<ResolutionPayload, AnswerPayload>;
  /** A node asks for an approval. */
  'approval.requested': EachMajor<ApprovalRequest, QuestionPayload>;
  /** An answer to an approval arrived. */
  'approval.received': EachMajor<ApprovalAnswer, AnswerPayload>;
  /** An approver granted an approval. */
  'approval.granted': EachMajor<VotePayload, AnswerPayload>;
  /** An approver rejected an approval. */
  'approval.rejected': EachMajor<VotePayload, AnswerPayload>;
  /** An approval was decided in place of its approvers. */
  'approval.overridden': EachMajor<OverridePayload, AnswerPayload>;
  /** A node asks for a clarification. */
  'clarification.requested': EachMajor<PlacedQuestionPayload, QuestionPayload>;
  /** A clarification was given. */
  'clarification.resolved': EachMajor<ResolutionPayload, AnswerPayload>;
  /** An artifact was created. */
  'artifact.created': {
    readonly artifactId: string;
    readonly artifactType: string;
    readonly nodeId?: string;
    readonly version?: unknown;
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
    readonly principal: string;
    readonly action: string;
    readonly resource: string;
    readonly allowed: boolean;
    readonly reason?: string;
  };
  /** A file of the workspace changed. */
  'workspace.updated': { readonly path: string; readonly version: number };
  /** A subscription to a trigger changed its state (major 1). */
  'trigger.subscription.state.changed': TriggerStateChanged;
  /** A subscription to a trigger changed its state (major 2). */
  'trigger.subscription-state-changed': TriggerStateChanged;
  /** A delivery of a trigger was attempted (major 1). */
  'trigger.delivery.attempted': TriggerAttempted;
  /** A delivery of a trigger was attempted (major 2). */
  'trigger.delivery-attempted': TriggerAttempted;
}

/**
 * A payload whose form differs between the majors. The members of the other form can be read too: their type includes
 * `undefined`, and a comparison with it narrows the payload to one form.
 */
export type EachMajor<First, Second> =
  | (First & { readonly [Member in Exclude<keyof Second, keyof First>]?: undefined })
  | (Second & { readonly [Member in Exclude<keyof First, keyof Second>]?: undefined });

/** The payload of `run.started`. */
export interface RunStarted {
  /** The id of the workflow. */
  readonly workflowId: string;
  /** The inputs of the run. */
  readonly inputs?: Readonly<Record<string, unknown>>;
  /** The transport that started the run. */
  readonly transport?: 'rest' | 'mcp' | 'a2a' | 'ui';
  /** The version of the engine. */
  readonly engineVersion?: number;
  /** The owner of the run, when the host records one. */
  readonly owner?: RunOwner;
  /** The tags of the run. */
  readonly tags?: readonly string[];
  /** The metadata of the run. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/**
 * The owner of a run. Major 2 always sends `tenant` and `subject`; in major 1 every member may be absent.
 *
 * @see Interface: Run owner (identity triple)
 */
export interface RunOwner {
  /** The tenant of the run: an opaque id. */
  readonly tenant?: string;
  /** The workspace of the run: an opaque id. */
  readonly workspace?: string;
  /** The caller that started the run (major 1): an opaque id, never personal data. */
  readonly principal?: string;
  /** The kind of the caller (major 1). */
  readonly principalKind?: 'user' | 'agent' | 'anonymous';
  /** The authenticated subject behind the caller. */
  readonly subject?: OwnerSubject;
}

/**
 * An authenticated caller.
 *
 * @see Interface: Subject record
 */
export interface OwnerSubject {
  /** The authority that vouches for the caller. */
  readonly issuer: string;
  /** The id of the caller at its issuer. */
  readonly subjectId: string;
  /** The tenant of the caller. */
  readonly tenant: string;
  /** The lane that authenticated the caller, as in `api-key`. */
  readonly lane: string;
  /** The kind of the caller. */
  readonly kind: 'user' | 'agent' | 'anonymous' | 'workload';
  /** The class of the key that the caller used. */
  readonly keyClass?: string;
  /** The party that acts for the caller. */
  readonly actor?: OwnerSubject;
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

/** A question to a person or to another system. */
export interface QuestionPayload {
  /** The kind of the interrupt, as in `approval`. */
  readonly kind: string;
  /** The key of the interrupt, which is unique in its run. */
  readonly key: string;
  /** The question, in the form of its kind. */
  readonly data: Readonly<Record<string, unknown>>;
  /** A JSON Schema of the answer. */
  readonly resumeSchema?: Readonly<Record<string, unknown>>;
  /** The time after which the interrupt ends without an answer, in milliseconds. */
  readonly timeoutMs?: number;
}

/** A question with its place, as major 1 sends it. */
export interface PlacedQuestionPayload extends QuestionPayload {
  /** The id of the run. */
  readonly runId: string;
  /** The id of the node that asks. */
  readonly nodeId: string;
  /** The id of the interrupt. */
  readonly interruptId: string;
  /** The time of the question, as RFC 3339. */
  readonly requestedAt: string;
}

/** The request for an approval, as major 1 sends it. */
export interface ApprovalRequest {
  /** The id of the node that asks. */
  readonly nodeId: string;
  /** The id of the artifact to approve. */
  readonly artifactId: string;
  /** The type of the artifact. */
  readonly artifactType: string;
  /** The actions that an approver may take. `edit` is the action `edit-accept` of major 2. */
  readonly actions: readonly ('accept' | 'reject' | 'refine' | 'edit-accept' | 'ask' | 'edit')[];
  /** The id of the interrupt. */
  readonly interruptId?: string;
  /** The question, as text for people. */
  readonly title?: string;
  /** The principals that may approve. */
  readonly approversList?: readonly string[];
  /** The number of approvals that are required. */
  readonly requiredApprovals?: number;
}

/** The answer of an interrupt, as major 2 sends it with every event that reports one. */
export interface AnswerPayload {
  /** The id of the node that asked. */
  readonly nodeId: string;
  /** The id of the interrupt. */
  readonly interruptId: string;
  /** The kind of the interrupt. */
  readonly kind?: string;
  /** The answer, in the form of the kind. */
  readonly resumeValue?: unknown;
  /** A short reason. */
  readonly reason?: string;
  /** The caller that answered. */
  readonly resolvedBy?: OwnerSubject;
  /** The decision about an approval. */
  readonly decision?: 'granted' | 'rejected' | 'overridden';
  /** The action that the approver took. */
  readonly action?: string;
}

/** The resolution of an interrupt, as major 1 sends it. */
export interface ResolutionPayload {
  /** The id of the node that asked. */
  readonly nodeId: string;
  /** The id of the interrupt. */
  readonly interruptId: string;
  /** The kind of the interrupt. */
  readonly kind?: string;
  /** The answer, in the form of the kind. */
  readonly resumeValue?: unknown;
  /** The time of the resolution, as RFC 3339. */
  readonly resolvedAt?: string;
  /** The principal that resolved the interrupt. */
  readonly resolvedBy?: string;
}

/** The answer to an approval, as major 1 sends it. */
export interface ApprovalAnswer {
  /** The id of the node that asked. */
  readonly nodeId: string;
  /** The action that the approver took, or `timeout`. */
  readonly action: 'accept' | 'reject' | 'refine' | 'edit-accept' | 'timeout';
  /** The principal that answered. */
  readonly decidedBy?: string;
  /** The time of the answer, as RFC 3339. */
  readonly decidedAt?: string;
  /** A comment of the approver. */
  readonly comment?: string;
  /** The approver's feedback, as text. */
  readonly feedback?: string;
  /** The changes that the action `refine` asks for. */
  readonly refineFeedback?: unknown;
  /** The artifact as the approver edited it. */
  readonly editedArtifactData?: unknown;
}

/** The vote of one approver, as major 1 sends it. */
export interface VotePayload {
  /** The id of the node that asked. */
  readonly gateId: string;
  /** The approver. */
  readonly principal: string;
  /** The votes so far, when several approvals are required. */
  readonly quorumProgress?: unknown;
}

/** The override of an approval, as major 1 sends it. */
export interface OverridePayload extends VotePayload {
  /** The reason, as the caller gave it. */
  readonly reason: string;
}

/** The payload of a subscription to a trigger that changed its state. */
export interface TriggerStateChanged {
  /** The id of the subscription. */
  readonly subscriptionId?: string;
  /** The source of the trigger, as in `webhook`. */
  readonly source?: string;
  /** The state before the change. */
  readonly fromState?: string;
  /** The state after the change. */
  readonly toState?: string;
  /** The reason of the change. */
  readonly reason?:
    | 'retry-exhausted'
    | 'operator-paused'
    | 'signature-invalid'
    | 'backpressure'
    | 'source-removed'
    | 'provenance-unevaluable';
}

/** The payload of an attempt to deliver a trigger. */
export interface TriggerAttempted {
  /** The id of the subscription. */
  readonly subscriptionId?: string;
  /** The key that tells repeated deliveries. */
  readonly dedupKey?: string;
  /** The number of the attempt. */
  readonly attempt?: number;
  /** The outcome of the attempt. */
  readonly outcome?: 'delivered' | 'retrying' | 'dead-lettered';
  /** The id of the run that the delivery started. */
  readonly runId?: string;
}
