import type { Transaction } from '../../ports/transaction.ts';
import { integer, optional } from '../sql/row.ts';
import type { Database } from './database.ts';

export const TAKE_BACK = {
  name: 'deliveries-take-back',
  text: `UPDATE deliveries SET state = 'waiting', due_at = $1 WHERE position IN (
    SELECT position FROM deliveries WHERE state = 'claimed' AND due_at > $2 AND due_at <= $1 FOR UPDATE SKIP LOCKED)`,
};
export const NEXT_END = {
  name: 'deliveries-next-end',
  text: `SELECT min(due_at) AS ends_at FROM deliveries WHERE state = 'claimed' AND due_at > $1`,
};

/**
 * The ends of the claims of all hosts. Where a client holds a snapshot, the index of claims keeps every delivery that has been
 * claimed since, so a look at it is bounded by time, and the next end is remembered. All times are in ms since the epoch.
 */
export class ClaimEnds {
  readonly #database: Database;
  /** The times of the last look for claims that have ended, and of the last one that was not bounded. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #lookedAtAllAt = Number.NEGATIVE_INFINITY;
  /** No claim ends earlier, as far as was known at `#readAt`. Undefined: none was held. */
  #next: number | undefined;
  #readAt = Number.POSITIVE_INFINITY;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Ends the claims that have run out, in a transaction: their deliveries are due. */
  async takeBack(now: number, transaction: Transaction): Promise<void> {
    const isBounded = now >= this.#lookedAt && now < this.#lookedAtAllAt + ALL_EVERY_MS;
    const after = isBounded ? this.#lookedAt - OVERLAP_MS : -1;
    await this.#database.within(transaction, TAKE_BACK, [now, after]);
    this.#lookedAt = now;
    if (!isBounded) this.#lookedAtAllAt = now;
  }

  /** Notes the end of claims that this host makes. */
  note(leaseUntil: number): void {
    this.#next = Math.min(this.#next ?? leaseUntil, leaseUntil);
  }

  /**
   * Returns a time after `now` before which no claim ends; undefined when none is held. A claim that another host has made is
   * found within 30 s.
   */
  async nextAfter(now: number): Promise<number | undefined> {
    const isFresh = now >= this.#readAt && now < this.#readAt + ALL_EVERY_MS;
    if (isFresh && (this.#next ?? Number.POSITIVE_INFINITY) > now) return this.#next;
    const [row] = (await this.#database.query(NEXT_END, [now])).rows;
    this.#next = row && optional(row, 'ends_at', integer);
    this.#readAt = now;
    return this.#next;
  }
}

const ALL_EVERY_MS = 30_000;
/** A look repeats the last part of the one before: a claim may have been committed shortly before its end. */
const OVERLAP_MS = 5000;
