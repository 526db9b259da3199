import { within } from '../ports/clock.ts';
import type { NewEvent, VersionedEngine } from '../ports/engine.ts';
import type { RunEvent } from '../ports/events.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import { describeError } from '../ports/log.ts';
import { isExecutable, type Run } from '../ports/runs.ts';
import type { RunLog } from '../runs/event-log.ts';
import { cancelledEvents } from '../runs/host-events.ts';
import { isTerminalEvent } from '../runs/transitions.ts';
import type { RunReach } from './engine-execution.ts';
import { Refusals } from './refusals.ts';
import type { RunFamilies } from './run-families.ts';
import { Turn } from './turn.ts';

/** Drives every run that can go on: from its creation, and again after a restart, a resume or an answer. */
export interface Executor {
  /**
   * Drives the runs that an earlier process left unfinished, read in pages. Resolves when all of them have been handed
   * over.
   */
  resume(): Promise<void>;
  /**
   * Starts to drive a run, and returns at once. Does nothing while an earlier turn still drives it, or when the run
   * cannot go on.
   *
   * @param decided an event that is appended right after the start of a new run
   */
  execute(run: Run, decided?: NewEvent): void;
  /**
   * Acts on a request about a run: a cancel, pause, resume or answer. Called on the host that took the request, after
   * its commit.
   */
  onRequest(run: Run): void;
  /** Called for each event that this host appends, after its commit. */
  onAppended(event: RunEvent): void;
  /** Reads the requests that other hosts took about the runs that this one drives. */
  pollRequests(): Promise<void>;
  /** Asks every execution to leave its run, and waits up to `graceMs` ms for that. */
  stop(graceMs: number): Promise<void>;
}

export interface ExecutorOptions extends HostPorts {
  readonly engine: VersionedEngine;
  readonly events: RunLog;
  readonly reach: RunReach;
  readonly families: RunFamilies;
}

export function executor(options: ExecutorOptions): Executor {
  return new RunExecutor(options);
}

class RunExecutor implements Executor {
  readonly #options: ExecutorOptions;
  /** The latest turn of each run that has not settled. */
  readonly #turns = new Map<string, Turn>();
  readonly #refusals = new Refusals();
  /** Cancels the timer by which a cancelled run is ended at the latest, for each such run. */
  readonly #deadlines = new Map<string, () => void>();
  #isStopping = false;
  /** Cancels the next `resume` after a failure; undefined when none is planned. */
  #cancelRetry: (() => void) | undefined;

  constructor(options: ExecutorOptions) {
    this.#options = options;
  }

  async resume(): Promise<void> {
    const { store } = this.#options;
    let after: string | undefined;
    while (!this.#isStopping) {
      const page = await store.runs.unfinished({ after, limit: PAGE });
      for (const run of page) this.execute(run);
      after = page.at(-1)?.runId;
      if (page.length < PAGE) return;
    }
  }

  execute(run: Run, decided?: NewEvent): void {
    const { runId } = run;
    const earlier = this.#turns.get(runId);
    if (this.#isStopping || !isExecutable(run.status) || (earlier !== undefined && earlier.left === undefined)) return;
    const after = earlier && within(this.#options.clock, LATE_TURN_MS, earlier.settled);
    if (run.parent !== undefined) this.#options.families.note(runId);
    const drive = (child: Run) => this.execute(child);
    const turn = new Turn(
      { ...this.#options, drive },
      { run, decided, after, isDoomed: this.#refusals.areTooMany(run) },
    );
    this.#turns.set(runId, turn);
    void turn.settled.then(() => this.#settled(runId, turn));
  }

  onRequest(run: Run): void {
    const turn = this.#turns.get(run.runId);
    // Its children are cancelled with it.
    if (run.cancelRequest !== undefined) void this.#options.families.check(run.runId);
    if (run.status === 'cancelling') {
      this.#expectEnd(run);
      turn?.leave('cancelled');
      // On a shared store the run may be driven by another host, which ends it.
      if (turn === undefined && this.#options.store.shared !== true) this.execute(run);
    } else if (run.status === 'running' || run.status === 'pending') {
      if (turn === undefined || turn.left !== undefined) this.execute(run);
      else if (run.pauseRequest !== undefined) turn.pause();
    } else turn?.leave(run.status === 'paused' ? 'paused' : 'gone');
  }

  onAppended({ runId, type }: RunEvent): void {
    if (!isTerminalEvent(type)) return;
    this.#turns.get(runId)?.leave('gone');
    this.#deadlines.get(runId)?.();
    this.#deadlines.delete(runId);
  }

  async pollRequests(): Promise<void> {
    if (this.#turns.size === 0) return;
    for (const run of await this.#options.store.runs.toStop([...this.#turns.keys()])) this.onRequest(run);
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.#cancelRetry?.();
    for (const cancel of this.#deadlines.values()) cancel();
    for (const turn of this.#turns.values()) turn.leave('stopping');
    const settled = Promise.all([...this.#turns.values()].map((turn) => turn.settled));
    await within(this.#options.clock, graceMs, settled);
  }

  #settled(runId: string, turn: Turn): void {
    if (this.#turns.get(runId) === turn) this.#turns.delete(runId);
    if (turn.left?.why === 'broken') {
      if (turn.refusedAt !== undefined) this.#refusals.note(runId, turn.refusedAt);
      this.#retryLater();
    } else this.#refusals.forget(runId);
  }

  /** Ends a cancelled run in time, even if its nodes are still under way on this host or another one. */
  #expectEnd({ runId, cancelRequest }: Run): void {
    if (this.#deadlines.has(runId) || this.#isStopping) return;
    const { clock, log } = this.#options;
    const cancel = clock.after(leftToCancel(cancelRequest, clock.now()), () => {
      this.#deadlines.delete(runId);
      this.#turns.get(runId)?.leave('cancelled');
      this.#endCancelled(runId).catch((error: unknown) => {
        log({ level: 'error', event: 'run.cancel-late', runId, ...describeError(error) });
        this.#retryLater();
      });
    });
    this.#deadlines.set(runId, cancel);
  }

  async #endCancelled(runId: string): Promise<void> {
    const { clock, events } = this.#options;
    await events.step(runId, undefined, async (open) => {
      if (open.run.status !== 'cancelling') return;
      await open.append(...cancelledEvents(open.run, clock.now()));
    });
  }

  /** Plans a `resume` in one second, unless one is planned already. */
  #retryLater(): void {
    if (this.#isStopping) return;
    const { clock, log } = this.#options;
    this.#cancelRetry ??= clock.after(RETRY_AFTER_MS, () => {
      this.#cancelRetry = undefined;
      this.resume().catch((error: unknown) => {
        log({ level: 'error', event: 'run.take-up-failed', ...describeError(error) });
        this.#retryLater();
      });
    });
  }
}

/** Returns the time in ms until a cancelled run is ended. The host that took the request may have another clock. */
function leftToCancel(request: Run['cancelRequest'], now: number): number {
  const left = (request?.at ?? now) + CANCEL_WITHIN_MS - now;
  return Math.min(Math.max(left, 0), CANCEL_WITHIN_MS);
}

const PAGE = 500;
const RETRY_AFTER_MS = 1000;
/** How long an earlier turn that was told to leave may delay the next one. */
const LATE_TURN_MS = 5000;
/** A cancelled run ends within 5 s of the request; the remaining 500 ms are for the last append. */
const CANCEL_WITHIN_MS = 4500;
