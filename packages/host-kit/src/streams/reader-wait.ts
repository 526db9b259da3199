import type { Clock } from '../ports/clock.ts';
import type { Reader, ReaderLimiter } from './reader-limits.ts';
import { newTimer, type Timer } from './timer.ts';

/** The limits of a {@link ReaderWait}. */
export interface ReaderWaitOptions {
  readonly clock: Clock;
  readonly readerLimiter: ReaderLimiter;
  readonly reader: Reader;
  /** The longest wait, in ms. 0 or less: no wait. */
  readonly waitMs: number;
  /** Aborts when the caller has disconnected. Called only if the reader waits. */
  readonly gone: () => AbortSignal;
}

/** The wait of a reader for events. It ends when its time is up, the caller has disconnected or the host stops. */
export class ReaderWait {
  readonly #options: ReaderWaitOptions;
  readonly #timer: Timer;
  /** When the wait ends at the latest, in ms of the monotonic clock. */
  readonly #until: number;
  /** There may be events that the last look did not find. */
  #hasNews = false;
  #isOver = false;
  /** Gives the reader's place back to the limiter. Undefined as long as the reader need not wait. */
  #giveBack: (() => void) | undefined;
  /** Aborts when the caller has disconnected. Undefined as long as the reader need not wait. */
  #gone: AbortSignal | undefined;
  /** Resolves the wait for news. */
  #wake = (): void => {};

  constructor(options: ReaderWaitOptions) {
    this.#options = options;
    this.#until = options.clock.monotonic() + options.waitMs;
    this.#timer = newTimer(options.clock, this.#giveUp);
  }

  /** Call it when there may be new events. */
  readonly notice = (): void => {
    this.#hasNews = true;
    this.#wake();
  };

  /** Call it before each look for events. */
  look(): void {
    this.#hasNews = false;
  }

  hasNews(): boolean {
    return this.#hasNews;
  }

  isTimeUp(): boolean {
    return this.#isOver || this.#options.clock.monotonic() >= this.#until;
  }

  /** Whether the reader has taken a place among the readers. */
  hasPlace(): boolean {
    return this.#giveBack !== undefined;
  }

  /**
   * Takes a place among the readers.
   *
   * @throws {AuthError} `rate_limited` when a limit of readers is reached
   * @throws {HostError} `service_unavailable` when the host is stopping
   */
  takePlace(): void {
    const { readerLimiter, reader, gone } = this.#options;
    this.#giveBack = readerLimiter.take(reader, this.#giveUp);
    this.#gone = gone();
    if (this.#gone.aborted) this.#isOver = true;
    this.#gone.addEventListener('abort', this.#giveUp);
    this.#timer.ringBy(this.#until);
  }

  /** Resolves when `notice` was called after the last look, and when the wait is over. */
  async news(): Promise<void> {
    if (this.#hasNews || this.#isOver) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  close(): void {
    this.#timer.cancel();
    this.#gone?.removeEventListener('abort', this.#giveUp);
    this.#giveBack?.();
  }

  readonly #giveUp = (): void => {
    this.#isOver = true;
    this.#wake();
  };
}
