import type {
  EngineRefusal,
  InterruptAnswer,
  InterruptRequest,
  JsonObject,
  NewArtifact,
  RunFailure,
} from '@svc/host-kit';

/** A workflow of this engine: which inputs it takes, and what it does. */
export interface Workflow {
  /** The inputs at fault and why, or nothing when they can be run. */
  readonly refuse: (inputs: JsonObject) => EngineRefusal | undefined;
  /**
   * Does the work, node by node, and resolves with the outputs. It is run anew whenever the run is taken up again: a node that has
   * ended does nothing then but give what it gave before, so all that has an effect belongs into a node.
   *
   * @throws {NodeFailure} to fail the run
   */
  readonly run: (inputs: JsonObject, steps: Steps) => Promise<JsonObject>;
}

/** What a workflow is made of. */
export interface Steps {
  /**
   * One node. Its work is done until it has ended once; where it is cut it is tried again from its beginning.
   *
   * @param options `goesOn`: what was cut is no new attempt, because the work goes on from what is recorded
   */
  node(
    nodeId: string,
    typeId: string,
    work: (node: NodeWork) => Promise<JsonObject>,
    options?: { readonly goesOn: true },
  ): Promise<JsonObject>;
}

/** What a node works with. */
export interface NodeWork {
  /** Lets time pass since the node's first start, the time in which the run was paused not counted. */
  rest(ms: number): Promise<void>;
  /** How many lines it has written already, where it goes on. */
  readonly lines: number;
  /** Writes lines to the log of the run, all of them in one transaction. */
  write(lines: readonly string[]): Promise<void>;
  /** The ids of the artifacts that it has made already, where it goes on. */
  readonly artifacts: readonly string[];
  /** Makes an artifact, and resolves with its id. */
  make(artifact: Omit<NewArtifact, 'nodeId'>): Promise<string>;
  /** Asks somebody, and waits for as long as it takes. */
  ask(question: Omit<InterruptRequest, 'nodeId'>): Promise<InterruptAnswer>;
  /** Aborted when the run is to be left. */
  readonly signal: AbortSignal;
}

/** Fails the node that it is thrown in, and with it the run. */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure';
  readonly failure: Failure;
  /** Once it is known. */
  readonly nodeId: string | undefined;

  constructor(failure: Failure, options: ErrorOptions & { readonly nodeId?: string } = {}) {
    super(failure.message, options);
    this.failure = failure;
    this.nodeId = options.nodeId;
  }
}

export type Failure = RunFailure & { readonly retryable?: boolean };
