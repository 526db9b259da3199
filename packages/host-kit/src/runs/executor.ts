import type { Clock } from '../clock.ts';
import { HostError } from '../errors.ts';
import { describeError, type Log } from '../log.ts';
import type { Store } from '../stores/store.ts';
import type { NewEvent, WorkflowEngine } from './engine.ts';
import type { EventLog } from './event-log.ts';
import type { RunEvent } from './event-store.ts';
import { isTerminal, type Run } from './run.ts';

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

  return {
    async resume() {
      let after: string | undefined;
      while (!stopping.signal.aborted) {
        const page = await store.runs.unfinished({ after, limit: PAGE });
        for (const run of page) execute(run);
        after = page.at(-1)?.runId;
        if (page.length < PAGE) return;
      }
    },
    execute,
    async stop(graceMs) {
      stopping.abort();
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

  function execute(run: Run, decided?: NewEvent): void {
    if (stopping.signal.aborted || executions.has(run.runId)) return;
    const execution = drive(run, decided)
      .catch((error: unknown) => recordFailure(run, error))
      .finally(() => executions.delete(run.runId));
    executions.set(run.runId, execution);
  }

  async function drive(run: Run, decided: NewEvent | undefined): Promise<void> {
    const history = run.lastSequence < 0 ? [] : await wholeLog(run);
    let ended = isTerminal(run.status);
    await engine.execute(run, {
      history,
      signal: stopping.signal,
      async append(event) {
        stopping.signal.throwIfAborted();
        const recorded = await events.append(run.runId, event);
        ended ||= TERMINAL_EVENTS.has(recorded.type);
        if (recorded.sequence === 0 && decided !== undefined) await events.append(run.runId, decided);
        return recorded;
      },
    });
    if (!ended && !stopping.signal.aborted) throw new Error(`${run.workflowId} returned without a terminal event`);
  }

  async function wholeLog(run: Run): Promise<RunEvent[]> {
    const history: RunEvent[] = [];
    for (;;) {
      const page = await store.events.list(run, { after: history.at(-1)?.sequence ?? -1, limit: PAGE });
      history.push(...page);
      if (page.length < PAGE) return history;
    }
  }

  /** An engine that rejects fails the run; a run that cannot even be failed is logged and taken up at the next start. */
  async function recordFailure(run: Run, error: unknown): Promise<void> {
    if (stopping.signal.aborted) return;
    if (HostError.is(error) && error.code === 'run_terminal') return;
    log({ level: 'error', event: 'run.engine-failed', runId: run.runId, ...describeError(error) });
    const failure = { code: 'internal_error', message: 'The workflow engine failed.', retryable: false };
    try {
      await events.append(run.runId, { type: 'run.failed', payload: { error: failure } });
    } catch (cause) {
      log({ level: 'error', event: 'run.failure-not-recorded', runId: run.runId, ...describeError(cause) });
    }
  }
}

const PAGE = 500;
const TERMINAL_EVENTS: ReadonlySet<string> = new Set(['run.completed', 'run.failed', 'run.cancelled']);
