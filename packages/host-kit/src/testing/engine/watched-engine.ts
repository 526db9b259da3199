import { isJsonObject } from '../../json.ts';
import {
  type Execution,
  RunLeft,
  type RunOutcome,
  type VersionedEngine,
  type WorkflowEngine,
} from '../../ports/engine.ts';
import type { Run } from '../../ports/runs.ts';
import { wrapEngine } from '../../ports/wrap-engine.ts';

/** The place at which a run of a process comes no further, until the process is killed. */
export interface Cut {
  /** The number of calls of the execution before it; the return of the outcome counts as one, too. */
  readonly at: number;
  /** Before the call is made, or after it was made and before it returns. `held`: before it is made, until `release`. */
  readonly when: 'before' | 'after' | 'held';
}

/** One call of `execute`, as it was seen. */
export interface SeenTurn {
  readonly run: Run;
  readonly signal: AbortSignal;
  isSettled: boolean;
  /** The run has come to its cut. */
  isCut: boolean;
  /** The times until which the engine rests, in ms since the epoch. */
  readonly restsUntil: Set<number>;
  /** The error with which the engine rejected although it was not told to leave. */
  rejection: unknown;
  /** The calls of methods of the execution after the engine had returned. */
  readonly late: string[];
  /** The calls of methods of the execution after the engine had to leave for another reason than a cancel. */
  readonly afterLeaving: string[];
}

/** An engine whose calls are seen, and cut at chosen places. The host gets `engine`. */
export class WatchedEngine {
  readonly engine: VersionedEngine;
  readonly turns: SeenTurn[] = [];
  readonly #inner: WorkflowEngine;
  readonly #calls = new Map<string, number>();
  /** Continues the runs that are held. */
  readonly #held = new Map<string, () => void>();

  readonly #cuts: boolean;

  /**
   * @param options.cuts whether runs are cut
   * @param options.isAccepted the workflows that are accepted without the engine
   */
  constructor(
    inner: WorkflowEngine,
    { cuts, isAccepted }: { readonly cuts: boolean; readonly isAccepted: (workflowId: string) => boolean },
  ) {
    this.#inner = inner;
    this.#cuts = cuts;
    this.engine = wrapEngine(inner, {
      accepts: (workflowId, inputs) =>
        isAccepted(workflowId) || inner.accepts === undefined || inner.accepts(workflowId, inputs),
      execute: (run, execution) => this.#execute(run, execution),
    });
  }

  /** Returns the number of calls of the execution of a run, the return of its outcome included. */
  callsOf(runId: string): number {
    return this.#calls.get(runId) ?? 0;
  }

  /** Continues a run that is held. */
  release(runId: string): void {
    this.#held.get(runId)?.();
  }

  async #execute(run: Run, execution: Execution): Promise<RunOutcome> {
    const { signal } = execution;
    const turn = newTurn(run, signal);
    this.turns.push(turn);
    try {
      const outcome = await this.#inner.execute(run, this.#watched(execution, turn));
      // Not awaited by the engine any more: it has returned.
      turn.isSettled = true;
      return await this.#passed(turn, async () => outcome);
    } catch (error) {
      turn.isSettled = true;
      if (!signal.aborted) turn.rejection = error;
      throw error;
    }
  }

  #watched(execution: Execution, turn: SeenTurn): Execution {
    const seen = <T>(method: string, call: () => Promise<T>): Promise<T> => {
      if (turn.isSettled) turn.late.push(method);
      const { aborted, reason } = turn.signal;
      if (aborted && !(reason instanceof RunLeft && reason.why === 'cancelled')) turn.afterLeaving.push(method);
      return this.#passed(turn, call);
    };
    const { append, artifact, interrupt, effect, fetch, secret, startChild, awaitChild, until } = execution;
    return {
      ...execution,
      append: (...events) => seen('append', () => append(...events)),
      artifact: (made) => seen('artifact', () => artifact(made)),
      interrupt: (request) => seen('interrupt', () => interrupt(request)),
      effect: (request, perform) => seen('effect', () => effect(request, perform)),
      fetch: (url, init) => seen('fetch', () => fetch(url, init)),
      secret: (name) => seen('secret', () => secret(name)),
      startChild: (request) => seen('startChild', () => startChild(request)),
      awaitChild: (nodeId) => seen('awaitChild', () => awaitChild(nodeId)),
      async until(time) {
        turn.restsUntil.add(time);
        try {
          await until(time);
        } finally {
          turn.restsUntil.delete(time);
        }
      },
    };
  }

  /** Makes a call, unless it is the place at which the run is cut. */
  async #passed<T>(turn: SeenTurn, call: () => Promise<T>): Promise<T> {
    const { runId } = turn.run;
    const at = this.callsOf(runId);
    this.#calls.set(runId, at + 1);
    const cut = this.#cuts ? cutOf(turn.run) : undefined;
    if (cut?.at !== at) return call();
    if (cut.when === 'after') await call();
    turn.isCut = true;
    if (cut.when !== 'held') return new Promise(() => {});
    await new Promise<void>((resolve) => this.#held.set(runId, resolve));
    return call();
  }
}

function newTurn(run: Run, signal: AbortSignal): SeenTurn {
  const seen = { isSettled: false, isCut: false, rejection: undefined, late: [], afterLeaving: [] };
  return { ...seen, run, signal, restsUntil: new Set() };
}

/** The cut is in the metadata of a run, which changes no execution. */
function cutOf({ metadata }: Run): Cut | undefined {
  const cut = metadata?.cut;
  if (!isJsonObject(cut) || typeof cut.at !== 'number') return undefined;
  const { at, when } = cut;
  return { at, when: when === 'after' || when === 'held' ? when : 'before' };
}
