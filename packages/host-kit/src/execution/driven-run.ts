import { HostError } from '../errors.ts';
import { type LeaveReason, RunLeft } from '../ports/engine.ts';
import type { Run, RunStatus } from '../ports/runs.ts';
import { epochOf, type OpenRun, type RunLog, RunTakenOver } from '../runs/event-log.ts';
import type { RunDraft } from '../runs/run-draft.ts';
import type { DrivenTime } from './driven-time.ts';

/**
 * A run during one turn of driving it. Every step is taken under the epoch in which the turn found the run, and every
 * step shows whether the turn may go on: when the run has moved on or the store fails, the run is left.
 */
export class DrivenRun {
  /** The run as it stood when the turn began. */
  readonly run: Run;
  readonly #events: RunLog;
  /** The time for which the run was driven. */
  readonly time: DrivenTime;
  /** Aborts with `#left`. */
  readonly #leaving = new AbortController();
  /** Why the run is left; undefined as long as it is driven. */
  #left: RunLeft | undefined;
  /** Sequence of the newest event that a step of this turn has seen. */
  #lastSequence: number;
  /** When the run started, in ms since the epoch: the time of this turn until the log says otherwise. */
  #startedAt: number;
  /** The run as the newest step of this turn left it. */
  #latest: Run;
  #refusedAt: number | undefined;

  /** @param now in ms since the epoch; counts as the start of a run that has not started */
  constructor(run: Run, events: RunLog, time: DrivenTime, now: number) {
    this.run = run;
    this.time = time;
    this.#events = events;
    this.#lastSequence = run.lastSequence;
    this.#startedAt = run.startedAt ?? now;
    this.#latest = run;
  }

  /** Why the run is left; undefined as long as it is driven. */
  get left(): RunLeft | undefined {
    return this.#left;
  }

  /** Aborts when the run is left. The reason is `left`. */
  get signal(): AbortSignal {
    return this.#leaving.signal;
  }

  get lastSequence(): number {
    return this.#lastSequence;
  }

  get startedAt(): number {
    return this.#startedAt;
  }

  /** The run as the newest step of this turn left it. */
  get latest(): Run {
    return this.#latest;
  }

  /** Sequence of the event that the log refused; undefined when no append failed. */
  get refusedAt(): number | undefined {
    return this.#refusedAt;
  }

  mustLeave(): boolean {
    return this.#left !== undefined;
  }

  /** Whether the turn may still append: the run is driven, or it is cancelled and its nodes clean up. */
  mayRecord(): boolean {
    return this.#left === undefined || this.#left.why === 'cancelled';
  }

  /** Leaves the run. The first reason counts, later calls do nothing. */
  leave(why: LeaveReason, cause?: unknown): void {
    if (this.#left !== undefined) return;
    this.#left = new RunLeft(why, cause === undefined ? undefined : { cause });
    this.#leaving.abort(this.#left);
  }

  /**
   * Leaves the run because a log could not be read: that is no failure of the workflow.
   *
   * @throws {RunLeft} always
   */
  leaveUnread(error: unknown): never {
    this.leave('broken', error);
    throw this.#left ?? error;
  }

  /**
   * Takes a step that needs the run alone. It may share a transaction with steps of other runs.
   *
   * @throws {HostError} `run_state_conflict` when the run does not accept an event in its status
   * @throws {RunLeft} when the step was not recorded
   */
  step<T>(work: (draft: RunDraft) => Promise<T>): Promise<T> {
    const { run } = this;
    const step = this.#events.step(run.runId, epochOf(run), async (draft) => {
      // Read after the commit: the start of a run completes the draft when it is written.
      return withRun(draft, await this.#timed(draft, work));
    });
    return this.#outcomeOf(step);
  }

  /** Does the same in a transaction of its own, for work that also reads or writes other tables. */
  change<T>(work: (open: OpenRun) => Promise<T>): Promise<T> {
    const { run } = this;
    const found = this.#events.hosted(run.runId, epochOf(run));
    const change = this.#events.change(found, async (open) => withRun(open, await this.#timed(open, work)));
    return this.#outcomeOf(change);
  }

  /** Stores the time for which the run was driven, although no event is appended. */
  async storeTime(): Promise<void> {
    const { run, time } = this;
    await this.#events.step(run.runId, epochOf(run), async (draft) => draft.set(time.counted(draft.run)));
  }

  /** Stores the time for which the run was driven with every change of the run. */
  async #timed<D extends Pick<RunDraft, 'run' | 'set'>, T>(draft: D, work: (draft: D) => Promise<T>): Promise<T> {
    const { run } = draft;
    this.time.begin(run);
    const result = await work(draft);
    if (draft.run !== run) draft.set(this.time.counted(draft.run));
    return result;
  }

  async #outcomeOf<T>(step: Promise<{ readonly result: T; readonly run: Run }>): Promise<T> {
    try {
      const { result, run } = await step;
      this.#lastSequence = run.lastSequence;
      this.#startedAt = run.startedAt ?? this.#startedAt;
      this.#latest = run;
      const why = WHY_LEFT[run.status];
      if (why !== undefined) this.leave(why);
      return result;
    } catch (error) {
      if (HostError.is(error) && error.code === 'run_state_conflict') throw error;
      if (error instanceof RunTakenOver || HostError.is(error)) this.leave('gone');
      else {
        this.#refusedAt ??= this.#lastSequence + 1;
        this.leave('broken', error);
      }
      throw this.#left;
    }
  }
}

function withRun<T>(draft: Pick<RunDraft, 'run'>, result: T): { readonly result: T; readonly run: Run } {
  return {
    result,
    get run() {
      return draft.run;
    },
  };
}

/** Why a turn leaves a run of each status; undefined: it goes on. */
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
