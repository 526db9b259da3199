import type { JsonObject, NewEvent } from '@svc/host-kit';

/** A workflow of this engine: which inputs it takes, and what it does, step by step. */
export interface Workflow {
  /** The inputs at fault and why, or nothing when they can be run. */
  readonly refuse: (inputs: JsonObject) => { readonly field: string; readonly problem: string } | undefined;
  /**
   * The events between `run.started` and the end, the terminal one last. It is run anew after a restart and must then yield
   * what it yielded before: what is already in the log is skipped, so the log is the only memory.
   */
  readonly steps: (inputs: JsonObject, context: StepContext) => Iterable<Step> | AsyncIterable<Step>;
}

export type Step = NewEvent;

export interface StepContext {
  /** When the run was started, in ms. */
  readonly startedAt: number;
  /** Resolves when the time has come; rejects when the host stops. */
  readonly until: (time: number) => Promise<void>;
}

/** The events of a node that does its work at once. */
export function node(nodeId: string, typeId: string, outputs: JsonObject): Step[] {
  return [
    { type: 'node.started', nodeId, payload: { nodeId, typeId, attempt: 0 } },
    { type: 'node.completed', nodeId, payload: { nodeId, outputs } },
  ];
}

export function completed(outputs: JsonObject): Step {
  return { type: 'run.completed', payload: { outputs } };
}
