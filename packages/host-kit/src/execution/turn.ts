import { mintId } from '@svc/versioning/ids';
import { HostError } from '../errors.ts';
import { ask } from '../interrupts/ask.ts';
import { checkedRequest } from '../interrupts/request.ts';
import { isJsonObject } from '../json.ts';
import type { Artifact } from '../ports/artifacts.ts';
import type { Clock } from '../ports/clock.ts';
import {
  type Execution,
  type LeaveReason,
  type NewEvent,
  RunLeft,
  type RunOutcome,
  type WorkflowEngine,
} from '../ports/engine.ts';
import type { RunEvent } from '../ports/events.ts';
import { describeError, type Log } from '../ports/log.ts';
import type { Random } from '../ports/random.ts';
import type { Run, RunStatus } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';
import { epochOf, type OpenRun, type RunLog, RunTakenOver } from '../runs/event-log.ts';
import { artifactEvent, cancelledEvents, endedEvent, pausedEvent, startedEvent } from '../runs/host-events.ts';
import type { RunDraft } from '../runs/run-draft.ts';
import { takeOverHistory } from './history.ts';
import { replayOf } from './replay.ts';
import { refuseReserved } from './reserved-events.ts';
import { wholeLog } from './whole-log.ts';

/** One turn of driving a run: from where its log stands to where it can go no further for now. */
export interface Turn {
  /** Resolves, and never rejects, when the engine has come to its end and what there was to record of that is recorded. */
  readonly settled: Promise<void>;
  /** Undefined as long as the run is driven. */
  readonly left: RunLeft | undefined;
  /** Sequence of the event that the log did not take; undefined when it was not asked, or could not even be read. */
  readonly refusedAt: number | undefined;
  /** Tells the engine to leave the run. The first reason counts. */
  leave(why: LeaveReason, cause?: unknown): void;
  /** A pause was asked for: where nothing is under way but the passing of time, it comes now. */
  pause(): void;
}

export interface TurnOptions {
  readonly engine: WorkflowEngine;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: RunLog;
  readonly log: Log;
}

export interface NewTurn {
  readonly run: Run;
  /** An event that stands right after the start of a new run. */
  readonly decided?: NewEvent | undefined;
  /** What has to end first: an earlier turn of the same run. */
  readonly after?: Promise<void> | undefined;
  /** The run is to be failed instead of driven: an earlier turn could not go on. */
  readonly isDoomed?: boolean;
}

/** Begins a turn. */
export function beginTurn(options: TurnOptions, { run, decided, after, isDoomed = false }: NewTurn): Turn {
  const { engine, store, clock, random, events, log } = options;
  const { runId } = run;
  const leaving = new AbortController();
  let left: RunLeft | undefined;
  let lastSequence = run.lastSequence;
  let startedAt = run.startedAt ?? clock.now();
  let refusedAt: number | undefined;
  let resting = 0;
  let isPauseAsked = run.pauseRequest !== undefined;

  const fork = { store, run, inTurn: inTurnAlone };
  const replay = replayOf(fork);
  const execution: Execution = {
    ...(replay !== undefined && { replayed: (nodeId) => replay.node(nodeId).catch(unread) }),
    history: () => readable(wholeLog(store, run)),
    async append(...added) {
      for (const { type } of added) refuseReserved(type);
      return await record(added);
    },
    async interrupt(request) {
      const asked = checkedRequest(request);
      if (left !== undefined) throw left;
      const answer = await inTurnAlone(async (open) => {
        if (open.run.status !== 'running') return undefined;
        if (replay !== undefined) return (await replay.answer(open, asked)) ?? UNANSWERED;
        return await ask({ interrupts: store.interrupts, clock, random }, open, asked);
      });
      // The turn is over; the one that follows has the answer.
      if (answer === undefined) throw left;
      if (answer === UNANSWERED) throw new Error('The source run has no answer to this question to replay.');
      return answer;
    },
    async artifact({ summary, ...made }) {
      if (left !== undefined && left.why !== 'cancelled') throw left;
      const createdAt = clock.now();
      const artifact: Artifact = { ...made, runId, artifactId: mintId('art', clock.now, random), createdAt };
      const isMade = await inTurnAlone(async (open) => {
        if (!isDriven(open.run)) return false;
        await store.artifacts.insert(artifact, open.transaction);
        await open.append(artifactEvent(artifact, summary));
        return true;
      });
      if (!isMade) throw left;
      return artifact;
    },
    async until(time) {
      // What took its time in the source takes none in its replay.
      if (replay !== undefined) return;
      resting++;
      try {
        if (isPauseAsked) pauseNow();
        await passed(time);
      } finally {
        resting--;
      }
    },
    signal: leaving.signal,
  };

  return {
    settled: drive().catch((error: unknown) => {
      leave('broken', error);
      if (left?.why === 'broken') log({ level: 'error', event: 'run.left', runId, ...describeError(left.cause) });
    }),
    get left() {
      return left;
    },
    get refusedAt() {
      return refusedAt;
    },
    leave,
    pause() {
      isPauseAsked = true;
      if (resting > 0) pauseNow();
    },
  };

  async function drive(): Promise<void> {
    await after;
    while (run.fork !== undefined && left === undefined && !(await takeOverHistory(fork, lastSequence)));
    if (left !== undefined && why() !== 'cancelled') return;
    await inTurn(begin);
    if (left !== undefined) return;
    const callOff = limitTime();
    const outcome = await engine.execute(run, execution).then(checked).catch(failure).finally(callOff);
    if (left === undefined || why() === 'cancelled') await inTurn((open) => end(open, outcome));
    if (why() === 'broken') throw left;
  }

  /** Fails the run when it takes longer than its caller allowed it. */
  function limitTime(): () => void {
    const limit = timeLimitOf(run);
    if (limit === undefined) return () => {};
    return clock.at(startedAt + limit, () => {
      const failed = inTurn(async (open) => {
        if (open.run.status !== 'running') return;
        const observed = clock.now() - startedAt;
        const breached = { type: 'cap.breached', payload: { kind: 'run-duration', limit, observed } };
        await open.append(breached, endedEvent(open.run, TIMED_OUT, clock.now()));
      });
      // Whatever it met, it made the turn leave the run.
      failed.catch(() => {});
    });
  }

  /** A run may have ended or moved on since it was found. */
  async function begin(open: RunDraft): Promise<void> {
    if (open.run.status === 'pending') {
      // The start of a fork may be part of its history.
      if (open.run.lastSequence >= 0) open.signal('run.started', {});
      else await open.append(startedEvent(open.run), ...(decided ? [decided] : []));
    }
    if (isDoomed || open.run.status === 'cancelling') await end(open, NOT_RECORDED);
  }

  function record(added: readonly NewEvent[]): Promise<readonly RunEvent[]> {
    if (left !== undefined && left.why !== 'cancelled') throw left;
    return inTurn(async (open) => {
      return isDriven(open.run) ? await open.append(...added) : [];
    }).then((recorded) => {
      if (recorded.length < added.length) throw left;
      return recorded;
    });
  }

  /** Brings the run to the end that is its due. */
  async function end(open: RunDraft, outcome: RunOutcome): Promise<void> {
    if (open.run.status === 'running') await open.append(endedEvent(open.run, outcome, clock.now()));
    if (open.run.status !== 'cancelling') return;
    await open.append(...cancelledEvents(open.run, clock.now()));
  }

  /** Does something with the run as the one that drives it. */
  function inTurn<T>(work: (draft: RunDraft) => Promise<T>): Promise<T> {
    return taken(events.step(runId, epochOf(run), async (draft) => ({ result: await work(draft), run: draft.run })));
  }

  /** The same where the store is asked for more than the run. */
  function inTurnAlone<T>(work: (open: OpenRun) => Promise<T>): Promise<T> {
    const found = events.hosted(runId, epochOf(run));
    return taken(events.change(found, async (open) => ({ result: await work(open), run: open.run })));
  }

  /** When the run is another's by now, or the store is away, it is left. */
  async function taken<T>(step: Promise<{ readonly result: T; readonly run: Run }>): Promise<T> {
    try {
      const done = await step;
      lastSequence = done.run.lastSequence;
      startedAt = done.run.startedAt ?? startedAt;
      const reason = WHY_LEFT[done.run.status];
      if (reason !== undefined) leave(reason);
      return done.result;
    } catch (error) {
      if (HostError.is(error) && error.code === 'run_state_conflict') throw error;
      if (error instanceof RunTakenOver || HostError.is(error)) leave('gone');
      else {
        refusedAt ??= lastSequence + 1;
        leave('broken', error);
      }
      throw left;
    }
  }

  /** A log that cannot be read is no fault of the engine that asked for it. */
  async function* readable(whole: AsyncIterable<RunEvent>): AsyncGenerator<RunEvent, undefined> {
    try {
      yield* whole;
    } catch (error) {
      unread(error);
    }
  }

  /** A log that cannot be read says nothing of the workflow. */
  function unread(error: unknown): never {
    leave('broken', error);
    throw left ?? error;
  }

  function leave(reason: LeaveReason, cause?: unknown): void {
    if (left !== undefined) return;
    left = new RunLeft(reason, cause === undefined ? undefined : { cause });
    leaving.abort(left);
  }

  function why(): LeaveReason | undefined {
    return left?.why;
  }

  /** Nodes that let time pass are not under way; should another one be, its end brings the pause. */
  function pauseNow(): void {
    const comes = inTurn(async (open) => {
      const { status, pauseRequest, openNodes = [] } = open.run;
      isPauseAsked = pauseRequest !== undefined;
      if (status !== 'running' || pauseRequest === undefined || openNodes.length > resting) return;
      await open.append(pausedEvent(open.run));
    });
    // Whatever it met, it made the turn leave the run.
    comes.catch(() => {});
  }

  function passed(time: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const { signal } = leaving;
      const abort = () => {
        callOff();
        reject(signal.reason);
      };
      const callOff = clock.at(time, () => {
        signal.removeEventListener('abort', abort);
        resolve();
      });
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort, { once: true });
    });
  }

  function checked(outcome: RunOutcome | undefined): RunOutcome {
    if (outcome?.status === 'completed' || outcome?.status === 'failed') return outcome;
    throw new Error(`${run.workflowId} came to its end without an outcome`);
  }

  /** An engine that rejects fails its run, unless it was told to leave it. */
  function failure(error: unknown): RunOutcome {
    if (left === undefined) log({ level: 'error', event: 'run.engine-failed', runId, ...describeError(error) });
    return ENGINE_FAILED;
  }
}

/** What it means for a turn that its run is found so. */
const WHY_LEFT: Readonly<Record<RunStatus, LeaveReason | undefined>> = {
  pending: undefined,
  running: undefined,
  paused: 'paused',
  'waiting-approval': 'waiting',
  'waiting-input': 'waiting',
  'waiting-external': 'waiting',
  cancelling: 'cancelled',
  completed: 'gone',
  failed: 'gone',
  cancelled: 'gone',
};

const UNANSWERED = Symbol('unanswered');

/** Whether what its execution does is recorded: until it has ended, what was under way when it was cancelled, too. */
function isDriven({ status }: Run): boolean {
  return status === 'running' || status === 'cancelling';
}

/** `configurable.run.runTimeoutMs`, of major 2. */
function timeLimitOf({ configurable }: Run): number | undefined {
  const limits = configurable?.run;
  const limit = isJsonObject(limits) ? limits.runTimeoutMs : undefined;
  return typeof limit === 'number' && limit > 0 ? limit : undefined;
}

const TIMED_OUT: RunOutcome = {
  status: 'failed',
  error: { code: 'run_timeout', message: 'The run took longer than runTimeoutMs allows.', retryable: false },
};
const ENGINE_FAILED = failed('The workflow engine failed.');
const NOT_RECORDED = failed('What the workflow did could not be recorded.');

function failed(message: string): RunOutcome {
  return { status: 'failed', error: { code: 'internal_error', message, retryable: false } };
}
