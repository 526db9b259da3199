import type {
  EffectAttempt,
  EffectRequest,
  EngineRefusal,
  Execution,
  InterruptAnswer,
  JsonObject,
  NewArtifact,
  Question,
  QuestionPlace,
  RunFailure,
} from '@svc/host-kit';

/** A workflow of this engine: the check of its inputs, and its work. */
export interface Workflow {
  /** Returns the input at fault and the reason, or undefined for valid inputs. */
  readonly refuse: (inputs: JsonObject) => EngineRefusal | undefined;
  /**
   * Does the work, node by node, and resolves with the outputs. It is called again each time the run continues, for
   * example after a restart or an answer. A node that has ended then returns its recorded outputs. So every effect
   * belongs into a node, or it happens again.
   *
   * @throws {NodeFailure} to fail the run
   */
  readonly run: (inputs: JsonObject, steps: Steps) => Promise<JsonObject>;
}

/** The building blocks of a workflow. */
export interface Steps {
  /**
   * Runs a node until it has ended once. Work that was interrupted starts again from its beginning, as a new attempt.
   *
   * @param options `goesOn`: interrupted work continues the same attempt, because it starts from the recorded lines and
   * artifacts
   * @throws {NodeFailure} when the node fails or has failed
   */
  node(
    nodeId: string,
    typeId: string,
    work: (node: NodeWork) => Promise<JsonObject>,
    options?: { readonly goesOn: true },
  ): Promise<JsonObject>;
}

/** The tools of a node. */
export interface NodeWork {
  /** Waits until `ms` have passed since the first start of the node, without the time in which the run was paused. */
  rest(ms: number): Promise<void>;
  /** The number of lines that earlier turns of the node wrote. */
  readonly lines: number;
  /** Writes lines to the log of the run, all of them in one transaction. */
  write(lines: readonly string[]): Promise<void>;
  /** The ids of the artifacts that earlier turns of the node made. */
  readonly artifacts: readonly string[];
  /** Makes an artifact, and resolves with its id. */
  make(artifact: Omit<NewArtifact, 'nodeId'>): Promise<string>;
  /** Asks a question and waits for its answer, without a limit unless the question has a timeout. */
  ask(question: Question & Pick<QuestionPlace, 'key'>): Promise<InterruptAnswer>;
  /** Opens a secret of the tenant. Undefined: there is none of this name. */
  readonly secret: Execution['secret'];
  /** The files of the workspace. */
  readonly files: Execution['files'];
  /** Calls a URL through the egress guard. */
  readonly fetch: Execution['fetch'];
  /** Makes an effect once, and returns the stored result of an effect that was made. */
  effect(
    request: Omit<EffectRequest, 'nodeId'>,
    perform: (attempt: EffectAttempt) => Promise<JsonObject>,
  ): Promise<JsonObject>;
  /** Aborted when this turn has to end, for example because the run is cancelled or the host stops. */
  readonly signal: AbortSignal;
}

/** Fails the node that throws it, and the run. */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure';
  readonly failure: Failure;
  /** The node that failed. Undefined until the failure leaves its node. */
  readonly nodeId: string | undefined;

  constructor(failure: Failure, options: ErrorOptions & { readonly nodeId?: string } = {}) {
    super(failure.message, options);
    this.failure = failure;
    this.nodeId = options.nodeId;
  }
}

export type Failure = RunFailure & { readonly retryable?: boolean };
