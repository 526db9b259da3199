import { AsyncLocalStorage } from 'node:async_hooks';
import { Error as DbosErrors } from '@dbos-inc/dbos-sdk';
import { type Clock, type Execution, type Run, RunLeft, type RunOutcome, type WorkflowEngine } from '@svc/host-kit';
import { deferred } from './deferred.ts';
import type { EarlierTurns } from './earlier-turns.ts';
import { NodesInDbos } from './nodes-in-dbos.ts';
import type { ProcessOfDbos } from './process-of-dbos.ts';
import type { TurnEnd } from './turn-end.ts';

interface TurnParts {
  readonly run: Run;
  readonly execution: Execution;
  readonly engine: WorkflowEngine;
  readonly dbos: ProcessOfDbos;
  readonly earlier: EarlierTurns;
  readonly clock: Clock;
}

/** One call of `execute`, which is one workflow of DBOS. */
export class TurnInDbos {
  readonly #parts: TurnParts;
  /** The context of the caller, such as its trace, which the engine gets back within the workflow of DBOS. */
  readonly #asCaller: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();
  readonly #work = deferred<RunOutcome>();

  constructor(parts: TurnParts) {
    this.#parts = parts;
    // The rejection is that of `outcome`, which may be waiting for DBOS when it comes.
    this.#work.promise.catch(() => {});
  }

  /** Executes the turn, as `WorkflowEngine.execute` says. */
  async outcome(): Promise<RunOutcome> {
    const { signal } = this.#parts.execution;
    const ended = await orAborted(this.#started(), signal);
    try {
      return await this.#work.promise;
    } finally {
      await this.#recorded(ended());
    }
  }

  /** Starts the turn in DBOS. Earlier turns of the run, which no host drives any more, are cancelled there. */
  async #started(): Promise<() => Promise<TurnEnd>> {
    const { run, dbos, earlier } = this.#parts;
    const { runId, epoch = 0, lastSequence, workflowId } = run;
    if (run.status !== 'pending') await earlier.cancel(runId);
    const body = () => this.#body();
    const attributes = { run: runId, workflow: workflowId, epoch };
    for (let repeated = 0; ; repeated++) {
      // A turn that recorded nothing has the same number of events as the next one.
      const id = `${runId}:${epoch}:${lastSequence + 1}${repeated === 0 ? '' : `:${repeated}`}`;
      try {
        return await dbos.start({ id, attributes, body });
      } catch (error) {
        if (!DbosErrors.isWorkflowIDInUseError(error) || repeated >= MOST_REPEATED) throw error;
      }
    }
  }

  /** The work of the turn, within its workflow. DBOS gets the kind of its end, and neither values nor errors. */
  async #body(): Promise<TurnEnd> {
    const { run, execution, engine } = this.#parts;
    const { signal } = execution;
    const nodes = new NodesInDbos(execution);
    let end: TurnEnd;
    try {
      signal.throwIfAborted();
      const turn = { ...execution, append: nodes.append };
      const outcome = await this.#asCaller(() => engine.execute(run, turn));
      end = endOf(outcome);
      this.#work.resolve(outcome);
    } catch (error) {
      end = signal.aborted ? leftOf(signal) : { status: 'failed', code: 'internal_error' };
      if (nodes.wasCancelled && !signal.aborted) this.#work.resolve(CANCELLED_IN_DBOS);
      else this.#work.reject(error);
    }
    await nodes.close(end);
    return end;
  }

  /** Waits until DBOS has stored the end of the turn. The outcome stands without it: the log is the record. */
  #recorded(stored: Promise<TurnEnd>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#parts.clock.after(RECORD_WITHIN_MS, resolve);
      const settled = (): void => {
        cancel();
        resolve();
      };
      stored.then(settled, settled);
    });
  }
}

/** Settles as `work` does, or rejects with the reason of `signal` when it aborts before. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    const done = (): void => signal.removeEventListener('abort', abort);
    work.then(resolve, reject).finally(done);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

function endOf(outcome: RunOutcome): TurnEnd {
  return outcome?.status === 'failed' ? { status: 'failed', code: outcome.error.code } : { status: 'completed' };
}

function leftOf({ reason }: AbortSignal): TurnEnd {
  return { left: reason instanceof RunLeft ? reason.why : 'gone' };
}

const CANCELLED_IN_DBOS: RunOutcome = {
  status: 'failed',
  error: {
    code: 'turn_cancelled',
    message: 'The turn of the run was cancelled in DBOS. Start another run.',
    retryable: true,
  },
};

/** Far more than the turns of a run that fail one after the other without an event. */
const MOST_REPEATED = 1000;
const RECORD_WITHIN_MS = 5000;
