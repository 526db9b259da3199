import { AsyncLocalStorage } from 'node:async_hooks';
import { DBOS, DBOSWorkflowConflictError, Error as DbosErrors } from '@dbos-inc/dbos-sdk';
import type { Execution } from '@svc/host-kit';
import { deferred } from './deferred.ts';
import { settledOrAborted } from './settled-or-aborted.ts';
import type { TurnEnd } from './turn-end.ts';

/**
 * The nodes of a turn as steps of DBOS. A step begins before `node.started` is recorded, and ends after the end of its
 * node was: DBOS never shows more than the log. Made within the workflow of the turn.
 */
export class NodesInDbos {
  /** Replaces `append` of the execution. */
  readonly append: Execution['append'];
  readonly #signal: AbortSignal;
  /** Calls a function within the workflow, from any place: the nodes of an engine know nothing of DBOS. */
  readonly #within: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();
  /** Ends of the nodes that are under way. */
  readonly #open = new Map<string, (end: TurnEnd) => void>();
  /** The steps whose end DBOS has not stored, at most one for each node. */
  readonly #unstored = new Map<string, Promise<unknown>>();
  #wasCancelled = false;

  constructor({ append, signal }: Pick<Execution, 'append' | 'signal'>) {
    this.#signal = signal;
    this.append = async (...events) => {
      for (const { type, nodeId } of events) if (type === STARTED && nodeId !== undefined) await this.#begin(nodeId);
      const recorded = await append(...events);
      for (const { type, nodeId = '', payload } of recorded) {
        const end = endOf(type, payload);
        if (end !== undefined) await this.#end(nodeId, end);
      }
      return recorded;
    };
  }

  /** Whether DBOS refused a node, because the turn was cancelled there. */
  get wasCancelled(): boolean {
    return this.#wasCancelled;
  }

  /** Ends the nodes that are open, with the turn. DBOS takes no checkpoint of a step after the end of its workflow. */
  async close(end: TurnEnd): Promise<void> {
    for (const endNode of this.#open.values()) endNode(end);
    this.#open.clear();
    await Promise.all(this.#unstored.values());
  }

  /**
   * Begins a node.
   *
   * @throws {Error} when the turn was cancelled in DBOS
   */
  async #begin(nodeId: string): Promise<void> {
    // The clean-up of a cancelled run has five seconds, and is recorded in the log alone.
    if (this.#open.has(nodeId) || this.#signal.aborted) return;
    const admitted = deferred<void>();
    const end = deferred<TurnEnd>();
    this.#open.set(nodeId, end.resolve);
    const step = this.#step(nodeId, () => {
      admitted.resolve(undefined);
      return end.promise;
    });
    step.catch((error: unknown) => admitted.reject(error));
    try {
      await settledOrAborted(admitted.promise, this.#signal);
    } catch (error) {
      this.#open.delete(nodeId);
      this.#wasCancelled ||= isCancellation(error);
      throw error;
    }
  }

  /**
   * Ends a node, and waits until DBOS has stored it. A node that an earlier turn started gets a step of this turn. The end is in the
   * log already: without a checkpoint the node has ended as well.
   */
  async #end(nodeId: string, end: TurnEnd): Promise<void> {
    const endNode = this.#open.get(nodeId);
    this.#open.delete(nodeId);
    if (endNode !== undefined) endNode(end);
    else if (!this.#signal.aborted) this.#step(nodeId, async () => end).catch(() => {});
    await settledOrAborted(this.#unstored.get(nodeId) ?? Promise.resolve(), this.#signal);
  }

  /** Runs a step of DBOS in the workflow of the turn. */
  #step(nodeId: string, work: () => Promise<TurnEnd>): Promise<TurnEnd> {
    const step = this.#within(() => DBOS.runStep(work, { name: nodeId }));
    const forget = (): void => void this.#unstored.delete(nodeId);
    this.#unstored.set(nodeId, step.then(forget, forget));
    return step;
  }
}

const STARTED = 'node.started';

/** DBOS marks a cancelled workflow, and takes it away from the execution that is under way. */
function isCancellation(error: unknown): boolean {
  return error instanceof DbosErrors.DBOSWorkflowCancelledError || error instanceof DBOSWorkflowConflictError;
}

/** The end of a node by one of its events; undefined: the node goes on. */
function endOf(type: string, payload: unknown): TurnEnd | undefined {
  switch (type) {
    case 'node.completed':
    case 'node.skipped':
      return { status: 'completed' };
    case 'node.retried':
      return { status: 'retried' };
    case 'node.failed':
      return { status: 'failed', ...codeOf(payload) };
    case 'node.cancelled':
      return { left: 'cancelled' };
    default:
      return undefined;
  }
}

/** The code of a failure. Its message may hold a value of the run. */
function codeOf(payload: unknown): { readonly code?: string } {
  if (typeof payload !== 'object' || payload === null || !('error' in payload)) return {};
  const { error } = payload;
  if (typeof error !== 'object' || error === null || !('code' in error)) return {};
  return { code: String(error.code) };
}
