import type { FetchInit } from '@svc/egress-guard/fetch';
import type { PayloadOf } from '../events/event-types.ts';
import type { Json, JsonObject } from '../json.ts';
import type { Artifact, NewArtifact } from './artifacts.ts';
import type { ChildOutcome, ChildRequest, ChildRun } from './child-runs.ts';
import type { ConfigurableSection, RunConfigurable } from './configurable.ts';
import type { RunEvent } from './events.ts';
import type { InterruptAnswer, InterruptKind, InterruptRequest } from './interrupts.ts';
import type { RunEffect } from './run-effects.ts';
import type { RunFiles } from './run-files.ts';
import type { ForkMode, Run, RunFailure } from './runs.ts';

/**
 * A function that executes a run, and resolves with the outputs of the run. A rejection fails the run with `internal_error`, and is
 * logged; callers never see its message.
 *
 * As the engine of a host it executes the runs of every workflow id. A host that is to conform to the interface must refuse a
 * workflow that it does not have: give it {@link WorkflowFunctions}, or a {@link WorkflowEngine} with `accepts`.
 *
 * @example
 * const engine: EngineFunction = async ({ inputs }) => ({ greeting: `Hello, ${inputs.name}` });
 */
export type EngineFunction = (run: Run, execution: Execution) => Promise<JsonObject>;

/**
 * An engine that is one function for each workflow, by its id. A run of another workflow is refused.
 *
 * Write a {@link WorkflowEngine} to judge inputs before a run is created, to choose the error that callers see, and for workflows
 * whose ids are names of its members, such as `execute`.
 *
 * @example
 * const engine: WorkflowFunctions = {
 *   greet: async ({ inputs }) => ({ greeting: `Hello, ${inputs.name}` }),
 * };
 */
export type WorkflowFunctions = { readonly [workflowId: string]: EngineFunction } & {
  readonly [member in keyof WorkflowEngine]?: never;
};

/** The forms of an engine that a host takes. */
export type AnyEngine = WorkflowEngine | WorkflowFunctions | EngineFunction;

/**
 * The workflow engine behind a host: the one port that every implementer writes. The kit owns the log and the record of
 * a run, decides when a run is driven, and records its end. The engine executes the steps of a workflow.
 *
 * @example
 * const engine: WorkflowEngine = {
 *   accepts: (workflowId) => workflowId === 'greet',
 *   async execute(run, { append }) {
 *     await append({ type: 'log.appended', payload: { level: 'info', message: 'hello' } });
 *     return { status: 'completed', outputs: { greeting: `Hello, ${run.inputs.name}` } };
 *   },
 * };
 */
export interface WorkflowEngine {
  /**
   * The version of the engine, a whole number. It is written to every run and every event. Raise it when recorded runs could
   * go on differently. Default: 1.
   */
  readonly version?: number;
  /** Further versions that a caller with a test key may force for a run. Default: none. */
  readonly otherVersions?: readonly number[];
  /** The modes in which the engine can fork a run. Default: none, and the host does not serve the operation. */
  readonly forks?: readonly ForkMode[];
  /**
   * The kinds of questions that the workflows ask, listed in the discovery document. Only these can then be asked, and
   * a subscription to the events of other kinds is refused. Default: none is listed, and every kind can be asked.
   */
  readonly interrupts?: readonly InterruptKind[];
  /**
   * Says that the engine compensates: when a run fails, it undoes the completed nodes that can be undone, the last one
   * first. Such a node ends with `x-compensable: true` in the payload of `node.completed`. The engine then records
   * `compensation.requested` with the ids of the `nodes` in its payload, and for each of them `compensation.started`, and
   * `compensation.completed` or `compensation.failed`, before it returns the failure. The host serves the status, and
   * records `compensation.manual-intervention-required` when a run fails or is cancelled with a node that was not
   * compensated. Default: it does not compensate.
   */
  readonly compensation?: 'reverse-completion';
  /**
   * The sections of `configurable` of major 2 that the engine understands besides `run` and `extensions`. The others are
   * rejected with 400. Default: none.
   *
   * @see Execution.configurable
   */
  readonly configurable?: readonly ConfigurableSection[];
  /**
   * The types of the events that the engine appends, in the spelling of either major, and those of its vendor. Only
   * these can then be appended, and a subscription to a type that the host never sends is refused. Vendors' types can be
   * subscribed to only if they are listed here. Default: the engine may append every type.
   *
   * @example
   * events: ['node.started', 'node.completed', 'acme.order-shipped']
   */
  readonly events?: readonly string[];
  /**
   * Judges a run before it is created. Default: every run is accepted.
   *
   * @returns true when the run can be created. False, which refuses the `workflowId`, or a refusal: the caller gets status
   *   400. Any other answer, such as a promise, is an error of the host, and the run is not created
   * @example
   * accepts(workflowId, inputs) {
   *   if (workflowId !== 'delay') return false;
   *   return typeof inputs.ms === 'number' || { field: 'inputs.ms', problem: 'must be a number' };
   * }
   */
  accepts?(workflowId: string, inputs: JsonObject): boolean | EngineRefusal;
  /**
   * Drives a run until it ends, or until `execution.signal` aborts. The kit calls it when a run is created, and again
   * after a restart, a resume and the answer to an interrupt. The log is the only record of earlier calls: read
   * `execution.history()`, and do not repeat the steps that it shows.
   *
   * After the abort every method of the execution rejects. Let these rejections pass and return; the outcome of the
   * call is then ignored. A rejection before the abort fails the run with `internal_error`.
   *
   * @returns the outcome, which the kit records as the end of the run
   * @example
   * async execute(run, { history, append }) {
   *   let isDone = false;
   *   for await (const { type } of history()) isDone ||= type === 'node.completed';
   *   if (!isDone) {
   *     const started = { nodeId: 'greet', typeId: 'acme.greet' };
   *     await append({ type: 'node.started', nodeId: 'greet', payload: started });
   *     await append({ type: 'node.completed', nodeId: 'greet', payload: { nodeId: 'greet', outputs: {} } });
   *   }
   *   return { status: 'completed', outputs: { greeting: `Hello, ${run.inputs.name}` } };
   * }
   */
  execute(run: Run, execution: Execution): Promise<RunOutcome>;
  /**
   * Returns the definition of a workflow for clients: its `workflowId`, and its `configurableSchema` if it declares
   * one. Returns undefined for an unknown workflow. Without this method the host does not serve the operation.
   *
   * @example
   * describe: (workflowId) => (workflowId === 'greet' ? { workflowId, name: 'Greets by name' } : undefined)
   */
  readonly describe?: (workflowId: string) => JsonObject | undefined;
}

/** An engine with its version. */
export interface VersionedEngine extends WorkflowEngine {
  readonly version: number;
}

/** A reason not to create a run. */
export interface EngineRefusal {
  /** The request field at fault, for example `workflowId` or `inputs.ms`. */
  readonly field: string;
  /** The rest of a sentence that begins with the field, for example `must be a number`. The caller sees it. */
  readonly problem: string;
}

/** The end of a run that is not cancelled. `outputs` and `error` are shown to callers. */
export type RunOutcome =
  | { readonly status: 'completed'; readonly outputs: JsonObject }
  | {
      readonly status: 'failed';
      readonly error: RunFailure & { readonly retryable?: boolean };
      /** The node that failed; absent when the failure belongs to no node. */
      readonly failedNodeId?: string;
    };

/** The end of a node in the source of a replay. */
export type ReplayedNode =
  | { readonly status: 'completed'; readonly outputs: JsonObject }
  | { readonly status: 'failed'; readonly error: RunFailure & { readonly retryable?: boolean } };

/**
 * The means that the kit gives to an engine for one call of `execute`. The methods do not use `this` and may be
 * destructured. After `signal` aborts they reject with its reason, a {@link RunLeft}.
 */
export interface Execution {
  /**
   * Reads the log of the run from its first event. Pages are read as they are needed, so a long log is never in memory
   * as a whole.
   *
   * @example
   * const done = new Set<string>();
   * for await (const { type, nodeId } of history()) if (type === 'node.completed' && nodeId) done.add(nodeId);
   */
  history(): AsyncIterable<RunEvent>;
  /**
   * Records events, all of them in one transaction. When the promise resolves, the events and their webhook deliveries
   * are durable.
   *
   * Record `node.started` and a terminal event for each node: a requested pause waits until no started node is open.
   * Events of runs and of interrupts are recorded by the kit alone: no engine appends them.
   *
   * A type may be named in the spelling of either major; it is stored under its name of major 2. A vendor's type is
   * `<org>.<name>`. TypeScript checks the payload of each type that is written as a literal.
   *
   * @returns the events as they were recorded
   * @throws {TypeError} for an event that only the kit records, a type that is not in `WorkflowEngine.events`, a name
   * that is no event type, and a payload that breaks a rule of its type. Nothing is then recorded
   * @throws {HostError} `run_state_conflict` when the run does not accept an event in its status
   * @throws {RunLeft} when the run is left and the events are not recorded
   * @example
   * await append({ type: 'node.started', nodeId: 'draft', payload: { nodeId: 'draft', typeId: 'acme.draft' } });
   */
  append<const T extends readonly string[]>(
    ...events: { readonly [I in keyof T]: EngineEvent<T[I]> }
  ): Promise<readonly RunEvent[]>;
  /**
   * Present only in a replay. Copies the events that a node recorded in the source run, and returns its outcome. Call
   * it instead of executing the node. A node without an outcome in the source fails with `replay_source_missing`.
   *
   * @example
   * const node = replayed ? await replayed('charge') : await charge(run);
   */
  readonly replayed?: (nodeId: string) => Promise<ReplayedNode>;
  /**
   * Asks a question. The first call makes the run wait and rejects: this execution is over. After the answer the kit
   * calls `execute` again; the call with the same `nodeId` and `key` then returns the answer.
   *
   * @throws {TypeError} for a question that does not have the form of its kind
   * @throws {RunLeft} `waiting` when the run waits from now on
   * @example
   * const data = { title: 'Publish the post?' };
   * const { decision } = await interrupt({ nodeId: 'gate', key: 'publish', kind: 'approval', data });
   */
  interrupt(request: InterruptRequest): Promise<InterruptAnswer>;
  /**
   * Stores an artifact and records `artifact.created`, in one transaction.
   *
   * @throws {RunLeft} when the run is left and the artifact is not stored
   * @example
   * const { artifactId } = await artifact({ nodeId: 'draft', artifactType: 'text', content: 'Once upon a time' });
   */
  artifact(artifact: NewArtifact): Promise<Artifact>;
  /** The options that the caller chose for the run, in the form of major 2. */
  readonly configurable: RunConfigurable;
  /**
   * Opens a secret that the tenant brought: the one of the run's workspace, else the one of the whole tenant, in the
   * mode of the run. Resolves with undefined when there is none. The opening is recorded in the audit log.
   *
   * From then on the value is replaced by `[REDACTED:<name>]` in everything that the engine hands to the kit for this
   * run: events, artifacts, questions, files, outcomes and errors. A value that is split over several calls is not
   * found.
   *
   * @throws {TypeError} for a secret of fewer than 8 characters, which cannot be redacted
   * @throws {RunLeft} when the run is left
   * @example
   * const key = await secret('openai');
   */
  secret(name: string): Promise<string | undefined>;
  /** The files of the workspace, as they were when the run started. */
  readonly files: RunFiles;
  /**
   * Calls a URL through the egress guard of the host, within the `httpClient` limits that discovery advertises. The call
   * ends when the run is left.
   *
   * @throws {EgressError} when the guard rejects the URL, or the call fails
   * @throws {TypeError} in a replay, and for a method, header or body that is not allowed
   * @throws {RunLeft} when the run is left
   * @example
   * const response = await fetch('https://api.example/items', { headers: { authorization: `Bearer ${key}` } });
   */
  fetch(url: string | URL, init?: FetchInit): Promise<Response>;
  /**
   * Makes an effect outside of the host once, such as a payment, and stores its result. A later call for the same effect
   * gets that result, also in another attempt of the node and after a restart, and does not call `perform`. The result is
   * returned as JSON, with secrets redacted. It is stored for `retention.effectDays` after the effect, and has at most 65 536
   * characters of JSON: a longer one makes the call reject, and leaves the outcome of the attempt unknown.
   *
   * The host claims the effect before it calls `perform`. When `perform` throws {@link EffectNotMade}, a later call tries
   * again. After another error, or when the host died meanwhile, the outcome is unknown: a later call rejects, unless
   * the request has `isRepeatable`. Clients read the ledger of a run at `GET /runs/{runId}/effects`.
   *
   * @throws {EffectUnsettled} when another run is making the effect, or the outcome of an earlier attempt is unknown
   * @throws {TypeError} in a replay, for a malformed request, for a result that is no JSON or too long, and after
   * 10 000 effects of the run
   * @throws {RunLeft} when the run is left
   * @example
   * const order = { nodeId: 'charge', provider: 'acme-pay:charge', identity: { key: orderId }, isRepeatable: true };
   * const { chargeId } = await effect(order, async ({ effectId }) => {
   *   const headers = { 'idempotency-key': effectId };
   *   return (await fetch('https://pay.example/charges', { method: 'POST', headers })).json();
   * });
   */
  readonly effect: RunEffect;
  /**
   * Starts a run of another workflow as the child of this run and of a node, once: a later call for the node returns the
   * same child, also after a restart. The child has the tenant, workspace, mode, owner, `configurable` and, unless the
   * request has others, the tags of this run. Its limits are its own. It is cancelled when this run is cancelled or ends
   * first.
   *
   * @throws {ChildRefused} when the engine refuses the child, and below 8 runs
   * @throws {TypeError} in a replay, for a malformed request, and for an engine whose `interrupts` lack `external-event`
   * @throws {RunLeft} when the run is left
   * @example
   * const { runId } = await startChild({ nodeId: 'resize', workflowId: 'resize-image', inputs: { image } });
   */
  startChild(request: ChildRequest): Promise<ChildRun>;
  /**
   * Returns the outcome of the child of a node. While the child has not ended the run waits, with the status
   * `waiting-external`, and the call rejects: this execution is over. After the end of the child the kit calls `execute`
   * again.
   *
   * @throws {TypeError} in a replay, and for a node without a child
   * @throws {RunLeft} `waiting` when the run waits from now on
   * @example
   * const ended = await awaitChild('resize');
   * if (ended.status !== 'completed') return { status: 'completed', outputs: { image: null } };
   */
  awaitChild(nodeId: string): Promise<ChildOutcome>;
  /**
   * Resolves at `time`, in ms since the epoch. A requested pause does not wait for it: the pause is recorded at once,
   * and the call rejects. In a replay it resolves at once.
   *
   * @throws {RunLeft} when the run is left before
   * @example
   * await until(startedAt + 60_000);
   */
  until(time: number): Promise<void>;
  /**
   * Aborts when the engine has to leave the run. Its reason is a {@link RunLeft}. After `cancelled`, and only then,
   * `append` and `artifact` still work, so that nodes can record their clean-up until the run is ended, at most five
   * seconds after the request.
   *
   * @example
   * const response = await fetch(url, { signal });
   */
  readonly signal: AbortSignal;
}

/** The reasons to leave a run. */
export type LeaveReason =
  /** A caller cancelled the run. It ends at most five seconds later, even if nodes are still under way. */
  | 'cancelled'
  /** The run waits for the answer to an interrupt. It is driven again after the answer. */
  | 'waiting'
  /** The run is paused. It is driven again after a resume. */
  | 'paused'
  /** The host stops. The next host that starts on the store drives the run. */
  | 'stopping'
  /** The run has ended, or another host drives it. */
  | 'gone'
  /** The store failed. The run is driven again about a second later. */
  | 'broken';

/**
 * The reason of the abort of `execution.signal`.
 *
 * @example
 * signal.addEventListener('abort', () => {
 *   if (signal.reason instanceof RunLeft && signal.reason.why === 'cancelled') child.kill();
 * });
 */
export class RunLeft extends Error {
  override readonly name = 'RunLeft';
  /** The reason. After `broken`, `cause` has the error of the store. */
  readonly why: LeaveReason;

  constructor(why: LeaveReason, options?: ErrorOptions) {
    super(`The engine must leave the run: ${why}.`, options);
    this.why = why;
  }
}

/** An event that an engine appends, with the payload of its type. */
export interface EngineEvent<T extends string = string> extends Omit<NewEvent, 'type' | 'payload'> {
  /** The type in the spelling of either major, for example `node.completed`, or a vendor's `<org>.<name>`. */
  readonly type: T;
  /** The content of the event, in the form of its type. `never` for the types that only the kit records. */
  readonly payload: T extends
    | `${'run' | 'interrupt' | 'approval' | 'clarification'}.${string}`
    | 'node.suspended'
    | 'node.resumed'
    ? never
    : PayloadOf<T>;
}

/** An event to append. The log adds its id, sequence, time and versions. */
export interface NewEvent {
  /** The type in the spelling of either major, for example `node.completed`. It is stored in the one of major 2. */
  readonly type: string;
  /** The content of the event, in the form of its type. */
  readonly payload: Json;
  /** The node that the event belongs to; absent for an event of the whole run. */
  readonly nodeId?: string;
  /** The id of the event or delivery that caused this one. */
  readonly causationId?: string;
}
