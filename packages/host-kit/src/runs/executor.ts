import type { Clock } from '../clock.ts';
import { HostError } from '../errors.ts';
import { describeError, type Log } from '../log.ts';
import type { Store } from '../stores/store.ts';
import type { NewEvent, WorkflowEngine } from './engine.ts';
import { type EventLog, epochOf, RunTakenOver } from './event-log.ts';
import type { RunEvent } from './event-store.ts';
import type { Run } from './run.ts';

/** Keeps every unfinished run in the engine's hands: from its creation, and again after a restart. */
export interface Executor {
  /** Takes up, page by page, what an earlier process left unfinished. Resolves when all of it has been handed over. */
  resume(): Promise<void>;
  /**
   * Hands a run over and returns at once.
   *
   * @param decided an event that stands right after the start of a new run
   */
  execute(run: Run, decided?: NewEvent): void;
  /** Asks every execution to leave its run where it is, and waits for that for at most `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

export interface ExecutorOptions {
  readonly engine: WorkflowEngine;
  readonly store: Store;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly log: Log;
}

export function executor(options: ExecutorOptions): Executor {
  const { engine, store, clock, events, log } = options;
  const stopping = new AbortController();
  const executions = new Map<string, Promise<void>>();
  /** Of runs that the log took nothing more of: the step that it refused, and how often. */
  const refused = new Map<string, { readonly sequence: number; readonly times: number }>();
  let cancelTakeUp: (() => void) | undefined;

  return {
    resume,
    execute,
    async stop(graceMs) {
      stopping.abort();
      cancelTakeUp?.();
      const late = new Promise<void>((resolve) => {
        const cancel = clock.at(clock.now() + graceMs, resolve);
        void Promise.all(executions.values()).then(() => {
          cancel();
          resolve();
        });
      });
      await late;
    },
  };

  async function resume(): Promise<void> {
    let after: string | undefined;
    while (!stopping.signal.aborted) {
      const page = await store.runs.unfinished({ after, limit: PAGE });
      for (const run of page) execute(run);
      after = page.at(-1)?.runId;
      if (page.length < PAGE) return;
    }
  }

  function execute(run: Run, decided?: NewEvent): void {
    if (stopping.signal.aborted || executions.has(run.runId)) return;
    const execution = drive(run, decided)
      .catch((error: unknown) => leave(run, error))
      .finally(() => executions.delete(run.runId));
    executions.set(run.runId, execution);
  }

  /** Rejects when the log could not be read or written: then nobody knows how far the run came. */
  async function drive(run: Run, decided: NewEvent | undefined): Promise<void> {
    const { runId } = run;
    const history = run.lastSequence < 0 ? [] : await wholeLog(run);
    const standing: Standing = { last: history.at(-1) };
    // It may have ended since it was found unfinished.
    if (hasEnded(standing)) return;
    try {
      if (isRefused(runId, standing)) throw new Error('The log takes no event of the workflow.');
      await engine.execute(run, { history, signal: stopping.signal, append });
      if (!hasEnded(standing)) throw new Error(`${run.workflowId} returned without a terminal event`);
    } catch (error) {
      if (standing.broken === undefined && !stopping.signal.aborted) await append(failureOf(run, error));
    }
    if (standing.broken !== undefined) throw standing.broken.error;
    refused.delete(runId);

    async function append(event: NewEvent): Promise<RunEvent> {
      stopping.signal.throwIfAborted();
      // What follows an event whose fate is unknown would follow a gap, or come twice.
      if (standing.broken !== undefined) throw standing.broken.error;
      try {
        const recorded = await events.append(runId, event, epochOf(run));
        standing.last = recorded;
        if (recorded.sequence === 0 && decided !== undefined)
          standing.last = await events.append(runId, decided, epochOf(run));
        return recorded;
      } catch (error) {
        standing.broken = { error };
        noteRefusal(runId, standing);
        throw error;
      }
    }
  }

  async function wholeLog(run: Run): Promise<RunEvent[]> {
    const history: RunEvent[] = [];
    for (;;) {
      const page = await store.events.list(run, { after: history.at(-1)?.sequence ?? -1, limit: PAGE });
      history.push(...page);
      if (page.length < PAGE) return history;
    }
  }

  /** An engine that rejects fails the run. */
  function failureOf(run: Run, error: unknown): NewEvent {
    log({ level: 'error', event: 'run.engine-failed', runId: run.runId, ...describeError(error) });
    const failure = { code: 'internal_error', message: 'The workflow engine failed.', retryable: false };
    return { type: 'run.failed', payload: { error: failure } };
  }

  /** The log took nothing more. That it is away is no failure of the run, which is taken up again from where it stands. */
  function leave({ runId }: Run, error: unknown): void {
    if (stopping.signal.aborted) return;
    const isOver = HostError.is(error) && error.code === 'run_terminal';
    const isTaken = error instanceof RunTakenOver;
    if (!isOver) log({ level: isTaken ? 'info' : 'error', event: 'run.left', runId, ...describeError(error) });
    if (isOver || isTaken) refused.delete(runId);
    else takeUpLater();
  }

  function noteRefusal(runId: string, { last }: Standing): void {
    const sequence = (last?.sequence ?? -1) + 1;
    const before = refused.get(runId);
    refused.set(runId, { sequence, times: before?.sequence === sequence ? before.times + 1 : 1 });
  }

  /** A log that can be read and never written to at this place will not take the next try either. */
  function isRefused(runId: string, { last }: Standing): boolean {
    const before = refused.get(runId);
    return before !== undefined && before.times >= MOST_REFUSALS && before.sequence === (last?.sequence ?? -1) + 1;
  }

  function takeUpLater(): void {
    cancelTakeUp ??= clock.at(clock.now() + TAKE_UP_AFTER_MS, () => {
      cancelTakeUp = undefined;
      resume().catch((error: unknown) => {
        log({ level: 'error', event: 'run.take-up-failed', ...describeError(error) });
        takeUpLater();
      });
    });
  }
}

/** How far an execution came. */
interface Standing {
  last: RunEvent | undefined;
  /** Why the log takes nothing more of it. */
  broken?: { readonly error: unknown };
}

function hasEnded({ last }: Standing): boolean {
  return last !== undefined && TERMINAL_EVENTS.has(last.type);
}

const PAGE = 500;
/** How often the log may refuse one step before the run fails for it. */
const MOST_REFUSALS = 5;
const TAKE_UP_AFTER_MS = 1000;
const TERMINAL_EVENTS: ReadonlySet<string> = new Set(['run.completed', 'run.failed', 'run.cancelled']);
