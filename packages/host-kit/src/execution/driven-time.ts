import type { Clock } from '../ports/clock.ts';
import { isTerminal, type Run } from '../ports/runs.ts';

/**
 * Counts the time for which hosts have driven a run, by the monotonic clock. The count is stored with the run, so a
 * later turn goes on from it, also after the time of the day was set. A host that is killed loses the time since the
 * last step of the run.
 */
export class DrivenTime {
  readonly #clock: Clock;
  readonly #isStored: boolean;
  /** The time of the earlier turns in ms; undefined before the first step of this turn. */
  #before: number | undefined;
  #since = 0;

  /** @param isStored false: no limit needs the count */
  constructor(clock: Clock, isStored: boolean) {
    this.#clock = clock;
    this.#isStored = isStored;
  }

  /** Begins the count of a turn, unless it has begun. */
  begin(run: Run): void {
    if (this.#before !== undefined) return;
    this.#before = run.usage?.drivenMs ?? estimated(run, this.#clock.now());
    this.#since = this.#clock.monotonic();
  }

  /** Returns the time in ms, that of this turn included. */
  ms(): number {
    return this.#before === undefined ? 0 : this.#before + (this.#clock.monotonic() - this.#since);
  }

  /** Returns a run with the count. */
  counted(run: Run): Run {
    if (!this.#isStored || isTerminal(run.status)) return run;
    return { ...run, usage: { ...run.usage, drivenMs: Math.floor(this.ms()) } };
  }
}

/** The time of a run without a count: an earlier version drove it, or no limit was set then. */
function estimated({ startedAt, createdAt, fork, usage }: Run, now: number): number {
  if (startedAt === undefined) return 0;
  const start = fork === undefined ? startedAt : Math.max(startedAt, createdAt);
  return Math.max(now - start - (usage?.idleMs ?? 0), 0);
}
