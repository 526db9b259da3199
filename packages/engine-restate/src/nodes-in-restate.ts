import { type Context, RestatePromise } from '@restatedev/restate-sdk';
import type { Execution } from '@svc/host-kit';
import { type Deferred, deferred } from './deferred.ts';
import { nodeEnd } from './node-end.ts';
import { settledOrAborted } from './settled-or-aborted.ts';
import type { TurnEnd } from './turn-end.ts';

/** The part of the SDK that one attempt of an invocation uses. */
export type Attempt = Pick<Context, 'run' | 'request'>;

/** The end of a node, or of an attempt of it, as a step of Restate. */
interface NodeStep {
  readonly name: string;
  readonly end: TurnEnd;
  /** Resolves when Restate has stored the step. */
  readonly stored: Deferred<void>;
}

/**
 * The nodes of a turn as steps of Restate. The host executes the turn, once. Each attempt of its invocation tells Restate the
 * ends of its nodes, in their order, so an attempt that breaks is repeated, and no node is executed again by it.
 *
 * A step is told when its node has ended, and not while it is under way: an attempt can wait for one thing of Restate at a
 * time, and nodes run side by side.
 */
export class NodesInRestate {
  /** Replaces `append` of the execution. */
  readonly append: Execution['append'];
  readonly #signal: AbortSignal;
  /** The nodes that are under way. */
  readonly #open = new Set<string>();
  /** All steps of the turn, in the order in which every attempt tells them. */
  readonly #steps: NodeStep[] = [];
  /** The attempts whose connection to Restate stands. */
  readonly #attempts = new Set<Attempt>();
  readonly #turnEnd = deferred<TurnEnd>();
  #isOver = false;
  #wasStopped = false;
  /** Resolves at the next change, and is then replaced. */
  #change = deferred<void>();

  constructor({ append, signal }: Pick<Execution, 'append' | 'signal'>) {
    this.#signal = signal;
    this.append = async (...events) => {
      for (const { type, nodeId } of events) if (type === STARTED && nodeId !== undefined) await this.#begin(nodeId);
      const recorded = await append(...events);
      for (const { type, nodeId = '', payload } of recorded) {
        const end = nodeEnd(type, payload);
        if (end !== undefined) await this.#end(nodeId, end);
      }
      return recorded;
    };
  }

  /** Whether the invocation was cancelled or killed in Restate. No further node then starts. */
  get wasStopped(): boolean {
    return this.#wasStopped;
  }

  /**
   * Waits until an attempt of the invocation is under way, or the host leaves the run.
   *
   * @throws {Error} when the invocation was stopped in Restate
   */
  async attended(): Promise<void> {
    while (this.#attempts.size === 0 && !this.#wasStopped && !this.#signal.aborted) {
      await settledOrAborted(this.#change.promise, this.#signal);
    }
    if (this.#wasStopped && !this.#signal.aborted) throw new Error('The invocation was stopped in Restate.');
  }

  /**
   * Tells the turn to Restate, in one attempt of its invocation.
   *
   * @throws the cancellation of Restate, after the end of the turn
   */
  async tell(attempt: Attempt): Promise<TurnEnd> {
    const { attemptCompletedSignal: broken } = attempt.request();
    const leave = (): void => void this.#attempts.delete(attempt);
    broken.addEventListener('abort', leave, { once: true });
    if (!broken.aborted) this.#attempts.add(attempt);
    this.#changed();
    try {
      return await this.#told(attempt);
    } catch (cancellation) {
      this.stop();
      await this.#turnEnd.promise;
      throw cancellation;
    } finally {
      leave();
    }
  }

  /** Starts no further node, because Restate has cancelled or killed the invocation. */
  stop(): void {
    this.#wasStopped = true;
    for (const { stored } of this.#steps) stored.resolve(undefined);
    this.#changed();
  }

  /** Ends the nodes that are open, and the turn with them. */
  close(end: TurnEnd): void {
    for (const nodeId of this.#open) this.#step(nodeId, end);
    this.#open.clear();
    this.#isOver = true;
    this.#turnEnd.resolve(end);
    this.#changed();
  }

  async #told(attempt: Attempt): Promise<TurnEnd> {
    for (let told = 0; ; ) {
      const steps = this.#steps.slice(told);
      told += steps.length;
      if (steps.length > 0) {
        await RestatePromise.all(steps.map(({ name, end }) => attempt.run(name, () => Promise.resolve(end))));
        for (const { stored } of steps) stored.resolve(undefined);
      } else if (this.#isOver) return this.#turnEnd.promise;
      else await this.#change.promise;
    }
  }

  /**
   * Begins a node.
   *
   * @throws {Error} when the invocation was stopped in Restate
   */
  async #begin(nodeId: string): Promise<void> {
    // The clean-up of a cancelled run has five seconds, and is recorded in the log alone.
    if (this.#open.has(nodeId) || this.#signal.aborted) return;
    await this.attended();
    this.#open.add(nodeId);
  }

  /**
   * Ends a node, and waits until Restate has stored it. The end is in the log already: without its step the node has ended as
   * well.
   */
  async #end(nodeId: string, end: TurnEnd): Promise<void> {
    const wasOpen = this.#open.delete(nodeId);
    if (this.#wasStopped || (this.#signal.aborted && !wasOpen)) return;
    const { stored } = this.#step(nodeId, end);
    await settledOrAborted(stored.promise, this.#signal);
  }

  #step(name: string, end: TurnEnd): NodeStep {
    const step = { name, end, stored: deferred<void>() };
    this.#steps.push(step);
    this.#changed();
    return step;
  }

  #changed(): void {
    this.#change.resolve(undefined);
    this.#change = deferred();
  }
}

const STARTED = 'node.started';
