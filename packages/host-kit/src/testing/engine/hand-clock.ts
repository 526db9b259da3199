import type { Clock } from '../../ports/clock.ts';

/** A clock that stands still until it is moved. Timers of all processes are due by it. */
export class HandClock {
  #elapsed = 0;
  readonly #timers = new Set<Timer>();

  /** Makes the clock of one process. */
  forProcess(): ProcessClock {
    const own = new Set<Timer>();
    return {
      now: () => START + this.#elapsed,
      monotonic: () => this.#elapsed,
      after: (ms, run) => {
        const timer: Timer = { due: this.#elapsed + Math.max(ms, 0), run };
        own.add(timer);
        this.#timers.add(timer);
        // Due at once, but not before this call has returned.
        if (ms <= 0) setImmediate(() => this.#fire(timer));
        return () => this.#timers.delete(timer);
      },
      end: () => {
        for (const timer of own) this.#timers.delete(timer);
      },
    };
  }

  /** Moves the clock by `ms`, from timer to timer. `settle` is called after each of them. */
  async move(ms: number, settle: () => Promise<void>): Promise<void> {
    const end = this.#elapsed + ms;
    for (;;) {
      const [next] = [...this.#timers].filter(({ due }) => due <= end).sort((a, b) => a.due - b.due);
      if (next === undefined) break;
      this.#elapsed = Math.max(this.#elapsed, next.due);
      this.#fire(next);
      await settle();
    }
    this.#elapsed = end;
  }

  #fire(timer: Timer): void {
    if (this.#timers.delete(timer)) timer.run();
  }
}

/** The clock of one process. */
export interface ProcessClock extends Clock {
  /** Drops the timers of the process, as its end does. */
  end(): void;
}

interface Timer {
  readonly due: number;
  readonly run: () => void;
}

const START = Date.UTC(2026, 0, 1);
