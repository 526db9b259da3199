import type { Clock } from '../ports/clock.ts';
import type { NewEvent, WorkflowEngine } from '../ports/engine.ts';
import type { RunEvent } from '../ports/events.ts';
import { describeError, type Log } from '../ports/log.ts';
import type { Random } from '../ports/random.ts';
import { isExecutable, type Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';
import type { RunLog } from '../runs/event-log.ts';
import { cancelledEvents } from '../runs/host-events.ts';
import { isTerminalEvent } from '../runs/transitions.ts';
import { beginTurn, type Turn } from './turn.ts';

/** Keeps every run for which there is something to do in the engine's hands: from its creation on, and again after a restart. */
export interface Executor {
  /** Takes up, page by page, what an earlier process left unfinished. Resolves when all of it has been handed over. */
  resume(): Promise<void>;
  /**
   * Hands a run over and returns at once.
   *
   * @param decided an event that stands right after the start of a new run
   */
  execute(run: Run, decided?: NewEvent): void;
  /** Told of each run about which something was asked here, after that is stored: what drives it learns of it at once. */
  notice(run: Run): void;
  /** Told of each event that was appended here. */
  heard(event: RunEvent): void;
  /** Looks for what was asked through other hosts about the runs that this one drives. */
  look(): Promise<void>;
  /** Asks every execution to leave its run where it is, and waits for that for at most `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

export interface ExecutorOptions {
  readonly engine: WorkflowEngine;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: RunLog;
  readonly log: Log;
}

export function executor(options: ExecutorOptions): Executor {
  const { store, clock, events, log } = options;
  const turns = new Map<string, Turn>();
  /** Of runs that the log took nothing more of: the step that it refused, and how often. */
  const refused = new Map<string, { readonly sequence: number; readonly times: number }>();
  const deadlines = new Map<string, () => void>();
  let isStopping = false;
  let cancelTakeUp: (() => void) | undefined;

  return {
    resume,
    execute,
    notice,
    heard({ runId, type }) {
      if (!isTerminalEvent(type)) return;
      turns.get(runId)?.leave('gone');
      deadlines.get(runId)?.();
      deadlines.delete(runId);
    },
    async look() {
      if (turns.size === 0) return;
      for (const run of await store.runs.disturbed([...turns.keys()])) notice(run);
    },
    async stop(graceMs) {
      isStopping = true;
      cancelTakeUp?.();
      for (const callOff of deadlines.values()) callOff();
      for (const turn of turns.values()) turn.leave('stopping');
      await withinTime(graceMs, Promise.all([...turns.values()].map(({ settled }) => settled)));
    },
  };

  async function resume(): Promise<void> {
    let after: string | undefined;
    while (!isStopping) {
      const page = await store.runs.unfinished({ after, limit: PAGE });
      for (const run of page) execute(run);
      after = page.at(-1)?.runId;
      if (page.length < PAGE) return;
    }
  }

  function execute(run: Run, decided?: NewEvent): void {
    const { runId } = run;
    const earlier = turns.get(runId);
    if (isStopping || !isExecutable(run.status) || (earlier !== undefined && earlier.left === undefined)) return;
    const after = earlier && withinTime(LATE_TURN_MS, earlier.settled);
    const turn = beginTurn(options, { run, decided, after, isDoomed: isDoomed(run) });
    turns.set(runId, turn);
    void turn.settled.then(() => {
      if (turns.get(runId) === turn) turns.delete(runId);
      if (turn.left?.why !== 'broken') return refused.delete(runId);
      if (turn.refusedAt !== undefined) noteRefusal(runId, turn.refusedAt);
      return takeUpLater();
    });
  }

  function notice(run: Run): void {
    const turn = turns.get(run.runId);
    if (run.status === 'cancelling') {
      expectEnd(run);
      turn?.leave('cancelled');
      // Nobody drives it; where hosts share the store, another one may.
      if (turn === undefined && store.shared !== true) execute(run);
    } else if (run.status === 'running' || run.status === 'pending') {
      if (turn === undefined || turn.left !== undefined) execute(run);
      else if (run.pauseRequest !== undefined) turn.pause();
    } else turn?.leave(run.status === 'paused' ? 'paused' : 'gone');
  }

  /** Whatever is still under way then, and wherever: a cancelled run has ended in time. */
  function expectEnd({ runId, cancelRequest }: Run): void {
    if (deadlines.has(runId) || isStopping) return;
    const callOff = clock.at((cancelRequest?.at ?? clock.now()) + CANCEL_WITHIN_MS, () => {
      deadlines.delete(runId);
      turns.get(runId)?.leave('cancelled');
      endCancelled(runId).catch((error: unknown) => {
        log({ level: 'error', event: 'run.cancel-late', runId, ...describeError(error) });
        takeUpLater();
      });
    });
    deadlines.set(runId, callOff);
  }

  async function endCancelled(runId: string): Promise<void> {
    await events.step(runId, undefined, async (open) => {
      if (open.run.status !== 'cancelling') return;
      await open.append(...cancelledEvents(open.run, clock.now()));
    });
  }

  /** Waits for something, and not forever. */
  async function withinTime(timeMs: number, awaited: Promise<unknown>): Promise<void> {
    await new Promise<void>((resolve) => {
      const callOff = clock.at(clock.now() + timeMs, resolve);
      void awaited.then(() => {
        callOff();
        resolve();
      });
    });
  }

  function noteRefusal(runId: string, sequence: number): void {
    const before = refused.get(runId);
    refused.set(runId, { sequence, times: before?.sequence === sequence ? before.times + 1 : 1 });
  }

  /** A log that can be read and never written to at this place will not take the next try either. */
  function isDoomed({ runId, lastSequence }: Run): boolean {
    const before = refused.get(runId);
    return before !== undefined && before.times >= MOST_REFUSALS && before.sequence === lastSequence + 1;
  }

  function takeUpLater(): void {
    if (isStopping) return;
    cancelTakeUp ??= clock.at(clock.now() + TAKE_UP_AFTER_MS, () => {
      cancelTakeUp = undefined;
      resume().catch((error: unknown) => {
        log({ level: 'error', event: 'run.take-up-failed', ...describeError(error) });
        takeUpLater();
      });
    });
  }
}

const PAGE = 500;
/** How often the log may refuse one step before the run fails for it. */
const MOST_REFUSALS = 5;
const TAKE_UP_AFTER_MS = 1000;
/** How long an earlier turn, which was told to leave, may stand in the way of the next one. */
const LATE_TURN_MS = 5000;
/** A cancelled run has ended five seconds after the request; what is left is for the last append. */
const CANCEL_WITHIN_MS = 4500;
