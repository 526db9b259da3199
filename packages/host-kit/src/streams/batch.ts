import type { StreamPage } from './cursor.ts';

/** Joins events into fewer, larger pieces, for readers that ask for that. */
export interface Batch {
  /** How long an event may be held back, in ms. */
  readonly ms: number;
  /**
   * Makes one piece of rendered pages.
   *
   * @param last the sequence of the last event in them
   */
  join(parts: readonly Uint8Array[], last: number): Uint8Array;
}

/** The rendered pages that a stream holds back until its batch is due. */
export class HeldBatch {
  readonly #batch: Batch;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  /** The sequence of the last event in the held pages. */
  #last = -1;
  /** When the first of the held pages was added, in ms since the epoch. */
  #since = 0;
  #isUrgent = false;

  constructor(batch: Batch) {
    this.#batch = batch;
  }

  /** When the batch must be sent, in ms since the epoch; infinity when nothing is held. */
  get dueAt(): number {
    return this.#parts.length === 0 ? Number.POSITIVE_INFINITY : this.#since + this.#batch.ms;
  }

  /** @param isLast nothing will be added any more */
  isDue(now: number, isLast: boolean): boolean {
    if (this.#parts.length === 0) return false;
    return isLast || this.#isUrgent || this.#bytes >= LARGEST_BATCH_BYTES || now >= this.dueAt;
  }

  add({ bytes, shown, isUrgent }: StreamPage, now: number): void {
    if (this.#parts.length === 0) this.#since = now;
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
    this.#last = shown ?? this.#last;
    this.#isUrgent ||= isUrgent;
  }

  /** Empties the batch and returns it as one piece. */
  take(): Uint8Array {
    const piece = this.#batch.join(this.#parts, this.#last);
    this.#parts = [];
    this.#bytes = 0;
    this.#last = -1;
    this.#isUrgent = false;
    return piece;
  }
}

const LARGEST_BATCH_BYTES = 65_536;
