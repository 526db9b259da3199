import { asJson } from '../as-json.ts';
import { held } from '../events/gate.ts';
import { yieldToLoop } from '../ports/clock.ts';
import {
  type Execution,
  type LeaveReason,
  type NewEvent,
  RunLeft,
  type RunOutcome,
  type VersionedEngine,
} from '../ports/engine.ts';
import { failedStepOf } from '../ports/failed-step.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import { describeError, type LogRecord } from '../ports/log.ts';
import type { Run } from '../ports/runs.ts';
import type { RunLog } from '../runs/event-log.ts';
import { cancelledEvents, endedEvent, startedEvent } from '../runs/host-events.ts';
import type { RunDraft } from '../runs/run-draft.ts';
import { UnhandledRejections } from '../unhandled-rejections.ts';
import { DrivenRun } from './driven-run.ts';
import { DrivenTime } from './driven-time.ts';
import { engineExecution, type RunReach } from './engine-execution.ts';
import { type ForkParts, takeOverHistory } from './history.ts';
import { timeLimitOf } from './limits.ts';
import { PauseAtRest } from './pause-at-rest.ts';
import { replayOf } from './replay.ts';
import type { RunFamilies } from './run-families.ts';
import { RunSecrets } from './run-secrets.ts';

export interface TurnOptions extends HostPorts {
  readonly engine: VersionedEngine;
  readonly events: RunLog;
  readonly reach: RunReach;
  readonly families: RunFamilies;
  /** Drives a new child of the run. */
  readonly drive: (child: Run) => void;
}

export interface NewTurn {
  readonly run: Run;
  /** An event that is appended right after the start of a new run. */
  readonly decided?: NewEvent | undefined;
  /** Has to settle before the turn begins: an earlier turn of the same run. It never rejects. */
  readonly after?: Promise<unknown> | undefined;
  /** The run is failed instead of driven, because earlier turns could not record their next event. Default: false. */
  readonly isDoomed?: boolean;
}

/** One turn of driving a run: from the end of its log to the point where the engine can go no further for now. */
export class Turn {
  /** Resolves, and never rejects, when the engine has ended and its outcome is recorded, or the run is left. */
  readonly settled: Promise<void>;
  readonly #options: TurnOptions;
  readonly #assigned: NewTurn;
  readonly #driven: DrivenRun;
  readonly #pauseAtRest: PauseAtRest;
  readonly #fork: ForkParts;
  readonly #secrets: RunSecrets;
  /** Whether a promise that the engine got has rejected. */
  #hasRejected = false;
  /** The rejections of the engine that nothing awaits, also those that come after its end. */
  readonly #unhandled = new UnhandledRejections((reason) => this.#unawaited(reason));

  /** Begins the turn. */
  constructor(options: TurnOptions, assigned: NewTurn) {
    const { store, clock, events } = options;
    const { run } = assigned;
    this.#options = options;
    this.#assigned = assigned;
    const { secrets, recordAudit, limits } = options.reach;
    const time = new DrivenTime(clock, limits.maxRunDurationMs !== undefined);
    this.#driven = new DrivenRun(run, events, time, clock.now());
    this.#pauseAtRest = new PauseAtRest(this.#driven, clock);
    this.#fork = { store, run, change: (work) => this.#driven.change(work) };
    this.#secrets = new RunSecrets({ store, clock, driven: this.#driven, secrets, recordAudit });
    this.settled = this.#drive().catch((error: unknown) => this.#broken(error));
  }

  /** Why the run was left; undefined as long as it is driven. */
  get left(): RunLeft | undefined {
    return this.#driven.left;
  }

  /** Sequence of the event that the log refused; undefined when no append failed. */
  get refusedAt(): number | undefined {
    return this.#driven.refusedAt;
  }

  /** Tells the engine to leave the run. The first reason counts. */
  leave(why: LeaveReason): void {
    this.#driven.leave(why);
  }

  /** Notes that a pause was requested. It is recorded now if the open nodes only wait for a time. */
  pause(): void {
    this.#pauseAtRest.request();
  }

  async #drive(): Promise<void> {
    const { run, after } = this.#assigned;
    const driven = this.#driven;
    const { limits } = this.#options.reach;
    await after;
    while (run.fork !== undefined && !driven.mustLeave() && !(await takeOverHistory(this.#fork, driven.lastSequence)));
    if (!driven.mayRecord()) return;
    await driven.step((open) => this.#begin(open));
    if (driven.mustLeave()) return;
    await this.#secrets.know();
    const outcome = await this.#execute();
    if (driven.mayRecord()) await driven.step((open) => this.#end(open, outcome));
    // Restarts of the host at short intervals would otherwise let a run without steps go on for ever.
    if (driven.left?.why === 'stopping' && limits.maxRunDurationMs !== undefined) await driven.storeTime();
    if (driven.left?.why === 'broken') throw driven.left;
  }

  /** Starts a run that has not started. It may also have ended or moved on since it was found. */
  async #begin(open: RunDraft): Promise<void> {
    const { decided, isDoomed = false } = this.#assigned;
    if (open.run.status === 'pending') {
      // A fork may have taken over the start of its source, which is then not recorded again.
      if (open.run.lastSequence >= 0) open.signal('run.started', {});
      else await open.append(startedEvent(open.run), ...(decided ? [decided] : []));
    }
    if (isDoomed || open.run.status === 'cancelling') await this.#end(open, NOT_RECORDED);
  }

  #execute(): Promise<RunOutcome> {
    const { engine } = this.#options;
    const { run } = this.#assigned;
    const execution = this.#execution();
    const cancelLimit = this.#limitTime();
    return this.#unhandled
      .within(async () => engine.execute(run, execution))
      .then((outcome) => this.#awaited(outcome))
      .then((outcome) =>
        checked(run, outcome && asJson('engine.execute: outcome', this.#secrets.redactor.redacted(outcome))),
      )
      .catch((error: unknown) => this.#failed(error))
      .finally(cancelLimit);
  }

  /**
   * Passes the outcome of an engine on, if it awaited what failed.
   *
   * @throws the first error that nothing has awaited, for a run that has completed without it
   */
  async #awaited(outcome: RunOutcome): Promise<RunOutcome> {
    if (outcome?.status !== 'completed') return outcome;
    // Node tells of a rejection that nothing handles when the event loop turns. Without one there is nothing to wait for.
    if (this.#hasRejected) await yieldToLoop();
    const { first } = this.#unhandled;
    if (first !== undefined) throw first.reason;
    return outcome;
  }

  #execution(): Execution {
    const { engine, store, clock, random, reach, families, drive } = this.#options;
    const replay = replayOf(this.#fork);
    const parts = { driven: this.#driven, pauseAtRest: this.#pauseAtRest, replay, reach, secrets: this.#secrets };
    const noted = <T>(call: () => Promise<T>) => this.#noted(call);
    return engineExecution({ ...parts, engine, store, clock, random, families, drive, noted });
  }

  /** Makes a call for the engine, and notes whether one has failed. */
  async #noted<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      this.#hasRejected = true;
      throw error;
    }
  }

  /**
   * Fails the run when it takes longer than its caller or the host allows.
   *
   * @returns cancels the limit
   */
  #limitTime(): () => void {
    const { clock, reach } = this.#options;
    const { startedAt, latest, time } = this.#driven;
    const limit = timeLimitOf(latest, { limits: reach.limits, startedAt, drivenMs: time.ms(), now: clock.now() });
    if (limit === undefined) return () => {};
    const since = clock.monotonic();
    return clock.after(limit.leftMs, () => {
      const failed = this.#driven.step(async (open) => {
        if (open.run.status !== 'running') return;
        const { breached, outcome } = limit.breachAfter(clock.monotonic() - since);
        await open.append(breached, endedEvent(open.run, outcome, clock.now()));
      });
      // A failed step has already made the turn leave the run; without this the rejection would be unhandled.
      failed.catch(() => {});
    });
  }

  /** Records the end of the run: as its outcome says, or as cancelled if that was requested. */
  async #end(open: RunDraft, outcome: RunOutcome): Promise<void> {
    const { clock } = this.#options;
    if (open.run.status === 'running') await open.append(endedEvent(open.run, outcome, clock.now()));
    if (open.run.status !== 'cancelling') return;
    await open.append(...cancelledEvents(open.run, clock.now()));
  }

  /** Logs a rejection of the engine. It fails the run, unless the engine was told to leave it. */
  #failed(error: unknown): RunOutcome {
    const { log } = this.#options;
    const { runId } = this.#assigned.run;
    if (!this.#driven.mustLeave()) log(this.#record('run.engine-failed', runId, error));
    return ENGINE_FAILED;
  }

  /** Logs an error that nothing awaits, or not yet. The engine may have left it behind when it was told to leave the run. */
  #unawaited(error: unknown): void {
    if (error instanceof RunLeft) return;
    const { log } = this.#options;
    const { runId } = this.#assigned.run;
    log({ ...this.#record('run.error-not-awaited', runId, error), level: 'warn' });
  }

  #broken(error: unknown): void {
    const { log } = this.#options;
    const { runId } = this.#assigned.run;
    this.#driven.leave('broken', error);
    const { left } = this.#driven;
    if (left?.why === 'broken') log(this.#record('run.left', runId, left.cause));
  }

  /** Describes an error without the secrets that the engine may have put into it. */
  #record(event: string, runId: string, error: unknown): LogRecord {
    const step = failedStepOf(error);
    const described = { ...(step !== undefined && { step }), ...describeError(error) };
    return { level: 'error', event, runId, ...this.#secrets.redactor.redacted(described) };
  }
}

/** Checks the outcome of an engine, which need not be written in TypeScript. */
function checked(run: Run, outcome: RunOutcome | undefined): RunOutcome {
  const { workflowId } = run;
  if (outcome?.status !== 'completed' && outcome?.status !== 'failed')
    throw new TypeError(`engine.execute: returned no outcome for ${workflowId}. Return ${COMPLETED} or ${FAILED}.`);
  if (outcome.status === 'completed' && !isObject(outcome.outputs))
    throw new TypeError(`engine.execute: the outcome of ${workflowId} has no outputs. Return ${COMPLETED}.`);
  if (outcome.status === 'failed' && !isObject(outcome.error))
    throw new TypeError(`engine.execute: the outcome of ${workflowId} has no error. Return ${FAILED}.`);
  held(endedEvent(run, outcome, 0));
  return outcome;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const COMPLETED = "{ status: 'completed', outputs: { … } }";
const FAILED = "{ status: 'failed', error: { code, message } }";

const ENGINE_FAILED = failed('The workflow engine failed.');
const NOT_RECORDED = failed('The events of the workflow could not be recorded.');

function failed(message: string): RunOutcome {
  return { status: 'failed', error: { code: 'internal_error', message, retryable: false } };
}
