import type { JsonObject } from '../json.ts';
import type { RunDefinition, RunFailure } from './runs.ts';

/** The run that a node starts as a child of its own run. */
export interface ChildRequest extends Partial<Pick<RunDefinition, 'tags' | 'metadata'>> {
  /** The node that starts the child, and waits for it. A node has one child at most. */
  readonly nodeId: string;
  /** A workflow of the engine. */
  readonly workflowId: string;
  readonly inputs: JsonObject;
  /** The id of the event that caused the child, for example of the start of the node. Default: none. */
  readonly causationId?: string;
}

/** A child of a run. */
export interface ChildRun {
  readonly runId: string;
  readonly workflowId: string;
}

/** The end of a child. */
export type ChildOutcome =
  | { readonly status: 'completed'; readonly outputs: JsonObject }
  | { readonly status: 'failed'; readonly error: RunFailure & { readonly retryable?: boolean } }
  | { readonly status: 'cancelled' };

/**
 * Thrown when a child cannot be started. A later attempt fails in the same way.
 *
 * @example
 * const refused = await startChild(request).catch((error: unknown) => error);
 * if (refused instanceof ChildRefused) return { status: 'failed', error: { code: refused.code, message: refused.message } };
 */
export class ChildRefused extends Error {
  override readonly name = 'ChildRefused';
  /** `validation_error`: the engine refuses the run. `sub_chain_depth_exceeded`: the run has too many runs above it. */
  readonly code: 'validation_error' | 'sub_chain_depth_exceeded';

  constructor(code: ChildRefused['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** The most runs above a run. */
export const MOST_RUN_DEPTH = 8;
