import type { JsonObject } from '../../json.ts';
import type { NewArtifact } from '../../ports/artifacts.ts';
import type { Execution } from '../../ports/engine.ts';
import type { InterruptAnswer, Question } from '../../ports/interrupts.ts';
import type { EffectAttempt, EffectRequest } from '../../ports/run-effects.ts';
import type { ChildWorkflow } from './child-workflow.ts';
import type { Stored } from './stored.ts';

/**
 * The building blocks of a workflow. Each call names its step, once in a run: a loop puts the index into the name. The
 * name and the result are events of the run, which callers and subscribers read. The work of a step uses no other step.
 *
 * Steps may run side by side, with `Promise.all`.
 */
export interface Steps {
  /**
   * Does work until it has succeeded once, and records its result. Work that a restart interrupted starts again from its
   * beginning, so it happens at least once; `context.effect` makes an effect once.
   *
   * @param name 1 to 128 characters
   * @returns the result as JSON stores it, in every turn the same
   * @throws {StepFailure} when the attempts are used up. The code is that of the failure, or `internal_error`
   * @throws {TypeError} for a name that this run has used already, a result that JSON cannot hold, and a name of more than
   * 117 characters with `compensate`
   * @example
   * const { url } = await step('upload', ({ fetch }) => upload(fetch, draft), {
   *   retry: { maxAttempts: 5 },
   *   compensate: ({ url }, { fetch }) => remove(fetch, url),
   * });
   */
  step<T>(
    name: string,
    work: (context: StepContext) => Promise<T> | T,
    options?: StepOptions<Stored<T>>,
  ): Promise<Stored<T>>;
  /**
   * Rests for `ms`. The time counts from the first call, across restarts, and stands still while the run is paused. A
   * sleeping run needs no memory on a pause, and a timer otherwise.
   *
   * @param ms a whole number from 0 to ten years
   * @example
   * await sleep('cool-down', 3 * 24 * 60 * 60_000);
   */
  sleep(name: string, ms: number): Promise<void>;
  /**
   * Asks a question and waits for its answer. The run occupies no memory while it waits. Steps that were started before
   * end first.
   *
   * @throws {TypeError} for a question that does not have the form of its kind
   * @example
   * const question = { kind: 'approval', data: { title: 'Publish it?' }, timeoutMs: 86_400_000 } as const;
   * const { decision } = await ask('review', question);
   */
  ask(name: string, question: StepsQuestion): Promise<InterruptAnswer>;
  /**
   * Waits for an event of another system.
   *
   * @returns the event; undefined when `timeoutMs` passed before
   * @example
   * const paid = await waitForEvent('paid', { eventType: 'shop.paid', correlation: { order }, timeoutMs: 3_600_000 });
   */
  waitForEvent(name: string, event: AwaitedEvent): Promise<JsonObject | undefined>;
  /**
   * Starts a run of another workflow as a child of this run, once, and waits for its end. The child is a run like any
   * other: it has a log, limits and questions of its own. While this run waits it occupies no memory. Steps that were
   * started before end first; children that were started side by side run at the same time. A child is cancelled when
   * this run is cancelled, or ends first.
   *
   * @param workflow a workflow of the engine, or the id of one
   * @returns the outputs of the child, as JSON stores them
   * @throws {ChildFailure} when the child fails or is cancelled
   * @throws {StepFailure} `validation_error` when its workflow does not accept the inputs, `sub_chain_depth_exceeded`
   * below eight runs
   * @example
   * const { url } = await child('resize', resizeImage, { image, width: 640 });
   * const pages = await Promise.all(names.map((name, index) => child(`page-${index}`, render, { name })));
   */
  child<Inputs, Outputs>(
    name: string,
    workflow: ChildWorkflow<Inputs, Outputs>,
    inputs: Inputs,
    options?: ChildOptions<Stored<Outputs>>,
  ): Promise<Stored<Outputs>>;
  child(name: string, workflowId: string, inputs: JsonObject, options?: ChildOptions<JsonObject>): Promise<JsonObject>;
  /**
   * Tells whether a run follows changed code. False for a run that passed this place before the change: it must go on as
   * it began. True for every other run, and recorded.
   *
   * @example
   * if (await patched('check-stock')) await step('stock', checkStock);
   */
  patched(name: string): Promise<boolean>;
}

/** A question of a workflow. The step gives it its node and key. */
export type StepsQuestion = Question;

/** An event of another system that a workflow waits for. */
export interface AwaitedEvent {
  /** The type of the event. */
  readonly eventType: string;
  /** The members by which the event is matched. Default: none. */
  readonly correlation?: JsonObject;
  /** The longest wait, in ms. Default: no limit. */
  readonly timeoutMs?: number;
}

/** Options of a child run. `compensate` undoes a child that completed. */
export interface ChildOptions<Result = unknown> extends Compensable<Result> {
  /** The tags of the child, at most 100. Default: those of this run. */
  readonly tags?: readonly string[];
  /** The metadata of the child. Default: none. */
  readonly metadata?: JsonObject;
}

/** A step that can be undone. */
export interface Compensable<Result = unknown> {
  /**
   * Undoes the step when it has completed and the run fails. The compensations of a run happen one after the other: the
   * step that completed last is undone first. Each one is repeated as `retry` of the step says, happens at least once, and is
   * recorded as the node `compensate:<name>`. One that fails for the last time does not keep the others from happening. A
   * run that is cancelled, or exceeds a limit of the host, compensates nothing. Default: the step stays as it is.
   *
   * @param result the result of the step
   */
  readonly compensate?: ((result: Result, context: StepContext) => Promise<void> | void) | undefined;
}

/** Options of a step. */
export interface StepOptions<Result = unknown> extends Compensable<Result> {
  /** Repeats work that fails. Default: one attempt. */
  readonly retry?: RetryPolicy;
}

/** The attempts of a step. A `StepFailure` ends them at once. */
export interface RetryPolicy {
  /** The most attempts, the first one included: 1 to 1000. */
  readonly maxAttempts: number;
  /** The time before the second attempt, in ms. Default: 1000. */
  readonly delayMs?: number;
  /** The factor by which the time grows with each further attempt, 1 to 10. Default: 2. */
  readonly factor?: number;
  /** The longest time before an attempt, in ms. Default: 60 000. */
  readonly maxDelayMs?: number;
}

/** The means of a step's work. */
export interface StepContext {
  /** The number of the attempt, from 0. */
  readonly attempt: number;
  /** Aborts when the step has to end, for example because the run is cancelled or the host stops. */
  readonly signal: AbortSignal;
  /** Calls a URL through the egress guard of the host. */
  readonly fetch: Execution['fetch'];
  /** Opens a secret of the tenant. Undefined: there is none of this name. */
  readonly secret: Execution['secret'];
  /** The files of the workspace. */
  readonly files: Execution['files'];
  /** The ids of the artifacts that earlier attempts of the step made. */
  readonly artifacts: readonly string[];
  /** Stores an artifact, and resolves with its id. */
  artifact(artifact: Omit<NewArtifact, 'nodeId'>): Promise<string>;
  /** Writes a line to the log of the run, which callers read. */
  log(message: string): Promise<void>;
  /** Makes an effect outside of the host once, and returns the stored result of one that was made. */
  effect(
    request: Omit<EffectRequest, 'nodeId'>,
    perform: (attempt: EffectAttempt) => Promise<JsonObject>,
  ): Promise<JsonObject>;
}
