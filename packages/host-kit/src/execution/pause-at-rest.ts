import { type Clock, sleepUntil } from '../ports/clock.ts';
import { pausedEvent } from '../runs/host-events.ts';
import type { DrivenRun } from './driven-run.ts';

/**
 * Pauses a run whose open nodes only wait for a time. Otherwise a requested pause is recorded when the last open node
 * ends, by the transaction that records that end.
 */
export class PauseAtRest {
  readonly #driven: DrivenRun;
  readonly #clock: Clock;
  /** How many calls of `until` wait at present. */
  #resting = 0;
  /** A pause is requested and not yet recorded. */
  #isRequested: boolean;

  constructor(driven: DrivenRun, clock: Clock) {
    this.#driven = driven;
    this.#clock = clock;
    this.#isRequested = driven.run.pauseRequest !== undefined;
  }

  /**
   * Resolves when the clock reaches `time`, in ms since the epoch.
   *
   * @throws {RunLeft} as soon as the run is left, which a pause does
   */
  async until(time: number): Promise<void> {
    this.#resting++;
    try {
      if (this.#isRequested) this.#pause();
      await sleepUntil(this.#clock, time, this.#driven.signal);
    } finally {
      this.#resting--;
    }
  }

  /** Notes that a pause was requested, and records it now if nothing but `until` is under way. */
  request(): void {
    this.#isRequested = true;
    if (this.#resting > 0) this.#pause();
  }

  #pause(): void {
    const paused = this.#driven.step(async (open) => {
      const { status, pauseRequest, openNodes = [] } = open.run;
      this.#isRequested = pauseRequest !== undefined;
      if (status !== 'running' || pauseRequest === undefined || openNodes.length > this.#resting) return;
      await open.append(pausedEvent(open.run));
    });
    // A failed step has already made the turn leave the run; without this the rejection would be unhandled.
    paused.catch(() => {});
  }
}
