import type { Json, JsonObject } from '../json.ts';
import type { Artifact, NewArtifact } from './artifacts.ts';
import type { RunEvent } from './events.ts';
import type { InterruptAnswer, InterruptKind, InterruptRequest } from './interrupts.ts';
import type { ForkMode, Run, RunFailure } from './runs.ts';

/**
 * The workflow engine behind a host: the port that an implementer fills. The kit owns the log, the run record, when a run is
 * driven and how it ends; the engine owns what a workflow does.
 *
 * @example
 * const engine: WorkflowEngine = {
 *   version: 1,
 *   refuse: (workflowId) => (workflowId === 'greet' ? undefined : { field: 'workflowId', problem: 'must be greet' }),
 *   async execute(run, { append }) {
 *     await append({ type: 'log.appended', payload: { level: 'info', message: 'hello' } });
 *     return { status: 'completed', outputs: { greeting: `Hello, ${run.inputs.name}` } };
 *   },
 * };
 */
export interface WorkflowEngine {
  /** Written to every run and event. */
  readonly version: number;
  /** Other versions that a run may be forced to, with a test key. Default: none. */
  readonly otherVersions?: readonly number[];
  /** The ways in which it executes forks. Default: none, and there is no operation to make them. */
  readonly forks?: readonly ForkMode[];
  /** The kinds of questions that its workflows ask, for discovery. Default: none. */
  readonly interrupts?: readonly InterruptKind[];
  /**
   * Judges a run before it exists: the sentence that tells the caller what is wrong, or nothing when it can run.
   */
  refuse(workflowId: string, inputs: JsonObject): EngineRefusal | undefined;
  /**
   * Drives a run as far as it goes: to its end, or until the execution's signal says to leave it. It is called when a run is created
   * and again whenever there is something to go on with: after a restart, a resume, the answer to an interrupt. What was done is in the
   * log and nowhere else, and must not be done again.
   *
   * After the signal, every method of the execution rejects; let that pass, and come to an end. A rejection without the signal fails the
   * run.
   *
   * @returns how the run ends; the kit records it
   */
  execute(run: Run, execution: Execution): Promise<RunOutcome>;
  /**
   * The definition of a workflow for clients to read, with its `workflowId`, and `configurableSchema` where it declares one; undefined where
   * there is no such workflow. An engine without this method leaves the operation unserved.
   */
  readonly describe?: (workflowId: string) => JsonObject | undefined;
}

export interface EngineRefusal {
  /** The request field at fault, for example `workflowId` or `inputs.ms`. */
  readonly field: string;
  readonly problem: string;
}

/** How a run ends when nobody cancels it. */
export type RunOutcome =
  | { readonly status: 'completed'; readonly outputs: JsonObject }
  | {
      readonly status: 'failed';
      readonly error: RunFailure & { readonly retryable?: boolean };
      /** The node that failed, where it was one. */
      readonly failedNodeId?: string;
    };

/** How a node ended in the source of a replay. */
export type ReplayedNode =
  | { readonly status: 'completed'; readonly outputs: JsonObject }
  | { readonly status: 'failed'; readonly error: RunFailure & { readonly retryable?: boolean } };

/** One turn of driving a run. */
export interface Execution {
  /** The log as it stands, from its first event, in pages: a long one need not be held in memory. */
  history(): AsyncIterable<RunEvent>;
  /**
   * Records what happened, all of it in one transaction. What the kit records itself is refused: the `run.` events but
   * `run.resume-started`, and those of interrupts.
   *
   * Nodes tell by `node.started` and their terminal events what is under way, which is what a pause waits for.
   *
   * @throws {TypeError} for an event that is the kit's to record
   */
  append(...events: readonly NewEvent[]): Promise<readonly RunEvent[]>;
  /**
   * In a replay alone: gives what a node did in the source run, which is taken over with all that it recorded, instead of doing it. A
   * node without an outcome there fails.
   */
  readonly replayed?: (nodeId: string) => Promise<ReplayedNode>;
  /**
   * Asks somebody. The first time the run waits from then on, and the promise rejects with the signal's reason: the execution is over.
   * The one that begins when the question is answered asks again, by the same node and key, and gets the answer.
   *
   * @throws {TypeError} for a question that is not in the form of its kind
   * @example
   * const { decision } = await interrupt({ nodeId: 'gate', key: 'publish', kind: 'approval', data });
   */
  interrupt(request: InterruptRequest): Promise<InterruptAnswer>;
  /** Makes an artifact, and records that it is there, in one transaction. */
  artifact(artifact: NewArtifact): Promise<Artifact>;
  /** Resolves when the time has come. A pause does not wait for it: while it lasts nothing is under way. */
  until(time: number): Promise<void>;
  /**
   * Aborted when the run is to be left. Its reason is a {@link RunLeft}. After `cancelled` alone `append` still works, for what there is
   * to tell of cleaning up, until the run is ended regardless.
   */
  readonly signal: AbortSignal;
}

/** Why a run is left. */
export type LeaveReason =
  /** Somebody cancelled it. Five seconds after that it has ended, whatever is still under way. */
  | 'cancelled'
  /** It waits for the answer to an interrupt, and will be taken up again with it. */
  | 'waiting'
  /** It is paused, and will be taken up again when it is resumed. */
  | 'paused'
  /** The host stops; whichever host comes next takes it up again. */
  | 'stopping'
  /** It has ended, or is executed elsewhere by now. */
  | 'gone'
  /** The store does not take what happens. It is taken up again when the store does. */
  | 'broken';

/** Why an execution was told to leave its run. */
export class RunLeft extends Error {
  override readonly name = 'RunLeft';
  readonly why: LeaveReason;

  constructor(why: LeaveReason, options?: ErrorOptions) {
    super(`The run is to be left: ${why}.`, options);
    this.why = why;
  }
}

/** An event about to be appended; the log adds identity, order and time. */
export interface NewEvent {
  readonly type: string;
  readonly payload: Json;
  readonly nodeId?: string;
  readonly causationId?: string;
}
