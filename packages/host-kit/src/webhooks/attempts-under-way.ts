/** The limits on attempts at the same time. */
export interface Concurrency {
  /** Attempts of all subscriptions together. */
  readonly total: number;
  /** Attempts of one subscription. */
  readonly perSubscription: number;
}

/** One attempt, from its start until its delivery is settled or released. */
export interface AttemptUnderWay {
  readonly webhookId: string;
  readonly abort: AbortController;
  /** Resolves when the delivery is settled or released. Never rejects. */
  readonly done: Promise<unknown>;
  /** When the attempt began, in ms since the epoch. */
  readonly since: number;
}

/** The attempts that have begun and not ended, counted against their limits. */
export class AttemptsUnderWay {
  readonly #limits: Concurrency;
  /**
   * The attempts, oldest first. Not keyed by delivery: a released delivery may be claimed again before its attempt has
   * ended.
   */
  readonly #attempts = new Set<AttemptUnderWay>();
  /** The number of attempts of each subscription that has any. */
  readonly #countOf = new Map<string, number>();

  constructor(limits: Concurrency) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#attempts.size;
  }

  /** When the oldest attempt began, in ms since the epoch; undefined when there is none. */
  get oldestSince(): number | undefined {
    const [oldest] = this.#attempts;
    return oldest?.since;
  }

  /** Returns whether another attempt of the subscription may begin now. */
  hasRoomFor(webhookId: string): boolean {
    return (
      this.#attempts.size < this.#limits.total && (this.#countOf.get(webhookId) ?? 0) < this.#limits.perSubscription
    );
  }

  /** Copies the number of attempts of each subscription that has any. */
  countBySubscription(): Map<string, number> {
    return new Map(this.#countOf);
  }

  add(attempt: AttemptUnderWay): void {
    this.#attempts.add(attempt);
    this.#countOf.set(attempt.webhookId, (this.#countOf.get(attempt.webhookId) ?? 0) + 1);
  }

  delete(attempt: AttemptUnderWay): void {
    this.#attempts.delete(attempt);
    const left = (this.#countOf.get(attempt.webhookId) ?? 1) - 1;
    if (left === 0) this.#countOf.delete(attempt.webhookId);
    else this.#countOf.set(attempt.webhookId, left);
  }

  /** Aborts the attempts of one subscription. */
  abortOf(webhookId: string): void {
    for (const attempt of this.#attempts) {
      if (attempt.webhookId === webhookId) attempt.abort.abort();
    }
  }

  /** Aborts all attempts. */
  abortAll(): void {
    for (const { abort } of this.#attempts) abort.abort();
  }

  /** Resolves when every attempt that is under way now has ended. */
  ended(): Promise<unknown> {
    return Promise.all([...this.#attempts].map(({ done }) => done));
  }
}
