/** A look at a table: its values belong to one snapshot, or were read in this order. */
export interface Observation<Place> {
  /** The highest place of a row. */
  readonly top: Place;
  /** The time, in ms of a monotonic clock. */
  readonly now: number;
  /** Every transaction below has ended. A database that writes one transaction after the other always has the same. */
  readonly oldestOpen: bigint;
  /** Every transaction that begins to write later has at least this number. */
  readonly next: bigint;
}

/**
 * Finds the place up to which no row can appear any more, although transactions commit in another order than that in which they took
 * their cursors.
 *
 * A place is settled in two steps. First `settleMs` pass, in which each transaction that took a lower cursor before begins to write, and so
 * gets its number. Then all transactions that had a number by the end of this time must have ended.
 */
export class SettledPlace<Place> {
  readonly #settleMs: number;
  readonly #isSame: (one: Place, other: Place) => boolean;
  #settled: Place | undefined;
  #pending: { readonly place: Place; readonly seenAt: number; barrier?: bigint } | undefined;

  constructor(settleMs: number, isSame: (one: Place, other: Place) => boolean) {
    this.#settleMs = settleMs;
    this.#isSame = isSame;
  }

  /** Returns the settled place; undefined while none is known. */
  observe({ top, now, oldestOpen, next }: Observation<Place>): Place | undefined {
    const pending = this.#pending;
    if (pending !== undefined && now - pending.seenAt >= this.#settleMs) pending.barrier ??= next;
    if (pending?.barrier !== undefined && oldestOpen >= pending.barrier) {
      this.#settled = pending.place;
      this.#pending = undefined;
    }
    const isNew = this.#settled === undefined || !this.#isSame(this.#settled, top);
    if (this.#pending === undefined && isNew) this.#pending = { place: top, seenAt: now };
    return this.#settled;
  }
}
