import type { ClaimedFor } from '../ports/deliveries.ts';

/** One attempt, from its start until its delivery is settled or released. */
export interface AttemptUnderWay extends ClaimedFor {
  readonly abort: AbortController;
  /** Resolves when the delivery is settled or released. Never rejects. */
  readonly done: Promise<unknown>;
  /** When the attempt began, in ms of the monotonic clock. */
  readonly since: number;
}

/** The attempts that have begun and not ended, the oldest first. */
export class AttemptsUnderWay implements Iterable<AttemptUnderWay> {
  /** Not keyed by delivery: a released delivery may be claimed again before its attempt has ended. */
  readonly #attempts = new Set<AttemptUnderWay>();
  /** The number of attempts of each tenant that has any. */
  readonly #countOf = new Map<string, number>();

  get size(): number {
    return this.#attempts.size;
  }

  /** When the oldest attempt began, in ms of the monotonic clock; undefined when there is none. */
  get oldestSince(): number | undefined {
    const [oldest] = this.#attempts;
    return oldest?.since;
  }

  [Symbol.iterator](): Iterator<AttemptUnderWay> {
    return this.#attempts.values();
  }

  countOf(tenant: string): number {
    return this.#countOf.get(tenant) ?? 0;
  }

  add(attempt: AttemptUnderWay): void {
    this.#attempts.add(attempt);
    this.#countOf.set(attempt.tenant, this.countOf(attempt.tenant) + 1);
  }

  delete(attempt: AttemptUnderWay): void {
    this.#attempts.delete(attempt);
    const left = this.countOf(attempt.tenant) - 1;
    if (left <= 0) this.#countOf.delete(attempt.tenant);
    else this.#countOf.set(attempt.tenant, left);
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
