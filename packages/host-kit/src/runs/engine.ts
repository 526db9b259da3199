import type { Json, JsonObject } from '../json.ts';
import type { RunEvent } from './event-store.ts';
import type { Run } from './run.ts';

/**
 * The workflow engine behind a host: the port that an implementer fills. The kit owns the log, the run record and what
 * happens at a restart; the engine owns what a workflow does.
 */
export interface WorkflowEngine {
  /** Written to every run and event. */
  readonly version: number;
  /**
   * Judges a run before it exists: the sentence that tells the caller what is wrong, or nothing when it can run.
   */
  refuse(workflowId: string, inputs: JsonObject): EngineRefusal | undefined;
  /**
   * Drives a run to its terminal event. Called once when the run is created, and again after a restart as long as the log has
   * no terminal event; `history` then holds what is already recorded and must not be appended again. A rejection fails the run.
   */
  execute(run: Run, execution: Execution): Promise<void>;
}

export interface EngineRefusal {
  /** The request field at fault, for example `workflowId` or `inputs.ms`. */
  readonly field: string;
  readonly problem: string;
}

export interface Execution {
  readonly history: readonly RunEvent[];
  append(event: NewEvent): Promise<RunEvent>;
  /** Aborted when the host stops: leave the run as it is, it is taken up again at the next start. */
  readonly signal: AbortSignal;
}

/** An event about to be appended; the log adds identity, order and time. */
export interface NewEvent {
  readonly type: string;
  readonly payload: Json;
  readonly nodeId?: string;
  readonly causationId?: string;
}
