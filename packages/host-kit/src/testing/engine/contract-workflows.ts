import type { Json, JsonObject } from '../../json.ts';
import type { WorkflowEngine } from '../../ports/engine.ts';
import type { InterruptKind } from '../../ports/interrupts.ts';
import type { EngineMeans } from './engine-means.ts';

/** A workflow of the engine under test, with the inputs of a run. */
export interface ContractWorkflow {
  readonly workflowId: string;
  readonly inputs: JsonObject;
}

/** A workflow that executes at least two nodes, one after the other, and completes. */
export interface ContractNodes extends ContractWorkflow {
  /** The ids of its nodes, in the order in which they end. */
  readonly nodes: readonly string[];
  readonly outputs: JsonObject;
}

/** A workflow that completes with the value that it is given. */
export interface ContractEcho {
  readonly workflowId: string;
  /** Returns the inputs that hold the value. */
  readonly inputs: (value: JsonObject) => JsonObject;
  /** Returns the outputs that are expected for the value. */
  readonly outputs: (value: JsonObject) => JsonObject;
}

/** A workflow that fails. */
export interface ContractFailure extends ContractWorkflow {
  /** The code of the error of the run. */
  readonly code: string;
  /** The node that fails. */
  readonly nodeId: string;
}

/** A workflow whose only node rests with `execution.until`, and then completes. */
export interface ContractRest extends ContractWorkflow {
  /** The time from the start of the node to its end, in ms by the clock of `EngineMeans`: 10 000 to 1 000 000. */
  readonly ms: number;
}

/** A workflow whose only node asks one question, and then completes. */
export interface ContractQuestion extends ContractWorkflow {
  /** The node that asks. */
  readonly nodeId: string;
  /** The `resumeValue` of an answer with which the run completes. */
  readonly answer: Json;
}

/** A workflow that makes one effect, with one call of `execution.fetch`, and completes. */
export interface ContractEffect {
  readonly workflowId: string;
  /**
   * Returns the inputs for a business key and a URL. The effect has the identity `{ key: order }`, is repeatable, and
   * sends `effectId` in the header `idempotency-key` of one POST to the URL.
   */
  readonly inputs: (order: string, url: string) => JsonObject;
}

/** A workflow whose only node starts one child with `execution.startChild`, waits for it, and then completes. */
export interface ContractChild extends ContractWorkflow {
  /** The outputs of the run, which show the outcome of its child. */
  readonly outputs: JsonObject;
}

/** A workflow whose nodes can be compensated, one after the other, and that then fails. */
export interface ContractCompensation extends ContractWorkflow {
  /** The ids of the nodes that can be compensated, in the order in which they complete. */
  readonly nodes: readonly string[];
  /** The code of the error of the run. */
  readonly code: string;
}

/** A workflow whose code another release has changed, so that it no longer fits the log of `nodes`. */
export interface ContractChange {
  /** The code of the error with which a run of the former release fails. */
  readonly code: string;
  /** Opens the engine of the changed release. Its `nodes` workflow has the same id, and other nodes. */
  readonly open: (means: EngineMeans) => WorkflowEngine | Promise<WorkflowEngine>;
}

/**
 * The workflows by which an engine is tested. A part that the engine does not have is `'none'`. A part that the engine
 * declares, and that is `'none'` here, fails the contract.
 */
export interface ContractWorkflows {
  readonly nodes: ContractNodes;
  readonly echo: ContractEcho;
  readonly failure: ContractFailure;
  readonly rest: ContractRest | 'none';
  /** One workflow for each kind of question that the engine asks. */
  readonly questions: Readonly<Partial<Record<InterruptKind, ContractQuestion>>>;
  /** A workflow whose only node makes one artifact, and completes. */
  readonly artifact: ContractWorkflow | 'none';
  readonly effect: ContractEffect | 'none';
  readonly child: ContractChild | 'none';
  readonly compensation: ContractCompensation | 'none';
  readonly change: ContractChange | 'none';
}
