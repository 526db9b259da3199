import type { Delivery } from '../../ports/deliveries.ts';

/** A waiting delivery that is not claimed. */
export interface WaitingRow {
  /** Primary key of the delivery's row. */
  readonly position: number;
  readonly webhookId: string;
  /** In ms since the epoch. */
  readonly dueAt: number;
  /** The content of the row. Undefined: a claim reads it from the table. */
  readonly delivery: Delivery | undefined;
}

/**
 * The waiting deliveries of the table that are not claimed, in memory, so that a claim reads what was just enqueued from
 * memory. A subscription is either known, and all of its waiting rows are here, or unknown, and its rows are read from
 * the table. What is unknown costs no memory.
 *
 * Only changes that are committed may be announced here.
 */
export class WaitingDeliveries {
  /** The rows of known subscriptions that have any, in the order of `isBefore`. */
  readonly #lines = new Map<string, WaitingRow[]>();
  /** The unknown subscriptions, or the known ones when `#isKnownTheException`. */
  #exceptions = new Set<string>();
  #isKnownTheException = false;
  #count = 0;
  #bytes = 0;
  #forgotten = 0;

  /** How often known rows were forgotten. Those of them that the journal has are in the table after a flush of it. */
  get forgotten(): number {
    return this.#forgotten;
  }

  isKnown(webhookId: string): boolean {
    return this.#exceptions.has(webhookId) === this.#isKnownTheException;
  }

  /** Returns the first `most` rows of a known subscription, the earliest due first. */
  first(webhookId: string, most: number): readonly WaitingRow[] {
    return this.#lines.get(webhookId)?.slice(0, most) ?? [];
  }

  /**
   * Adds a row to a known subscription, in its place. A row that is there already is not added again.
   *
   * @param isJournalled the journal has the row, and the table does not
   */
  add(row: WaitingRow, isJournalled = false): void {
    const { webhookId } = row;
    if (!this.isKnown(webhookId)) {
      // Forgotten since it was enqueued.
      this.claimed(row, isJournalled);
      return;
    }
    const line = this.#lines.get(webhookId);
    const isFull = this.#count >= MOST || this.#bytes >= MOST_BYTES;
    if (isFull || (line !== undefined && line.length >= MOST_OF_ONE)) {
      this.forget(webhookId);
      return;
    }
    if (line === undefined) {
      this.#lines.set(webhookId, [row]);
    } else {
      const index = placeOf(line, row);
      if (line[index - 1]?.position === row.position) return;
      if (index === line.length) line.push(row);
      else line.splice(index, 0, row);
    }
    this.#counted(row, 1);
  }

  /**
   * Announces a row that was claimed when it was added.
   *
   * @param isJournalled the journal has the row, and the table does not
   */
  claimed({ webhookId }: WaitingRow, isJournalled: boolean): void {
    if (isJournalled && !this.isKnown(webhookId)) this.#forgotten += 1;
  }

  /** Removes the first `count` rows of a subscription, which have been claimed. */
  take(webhookId: string, count: number): void {
    const line = this.#lines.get(webhookId);
    if (line === undefined || count === 0) return;
    const taken = count >= line.length ? line : line.splice(0, count);
    if (taken === line) this.#lines.delete(webhookId);
    for (const row of taken) this.#counted(row, -1);
  }

  /** Makes a subscription unknown: its rows have changed, or are too many. */
  forget(webhookId: string): void {
    this.#forgotten += 1;
    this.#clear(webhookId);
    this.#setKnown(webhookId, false);
  }

  /** Makes every subscription unknown: another process has written to the table. */
  forgetAll(): void {
    this.#forgotten += 1;
    this.#lines.clear();
    this.#exceptions = new Set();
    this.#isKnownTheException = true;
    this.#count = 0;
    this.#bytes = 0;
  }

  /** Makes a subscription known, by all of its waiting rows that are not claimed, in their order. */
  learn(webhookId: string, rows: readonly WaitingRow[]): void {
    this.#clear(webhookId);
    this.#setKnown(webhookId, true);
    if (rows.length === 0) return;
    this.#lines.set(webhookId, [...rows]);
    for (const row of rows) this.#counted(row, 1);
  }

  /** Removes everything about a subscription that was removed. */
  drop(webhookId: string): void {
    this.#clear(webhookId);
    this.#exceptions.delete(webhookId);
  }

  #setKnown(webhookId: string, isKnown: boolean): void {
    if (isKnown === this.#isKnownTheException) this.#exceptions.add(webhookId);
    else this.#exceptions.delete(webhookId);
  }

  #clear(webhookId: string): void {
    const line = this.#lines.get(webhookId);
    if (line === undefined) return;
    this.#lines.delete(webhookId);
    for (const row of line) this.#counted(row, -1);
  }

  #counted({ delivery }: WaitingRow, by: 1 | -1): void {
    this.#count += by;
    this.#bytes += by * (delivery?.body.length ?? 0);
  }
}

/** Bounds the memory. More than a host delivers within a second. */
const MOST = 20_000;
const MOST_OF_ONE = 1000;
const MOST_BYTES = 16 * 1024 * 1024;

/** Returns the index behind all rows that come before `row`, or are the same. Most rows belong to the end. */
function placeOf(line: readonly WaitingRow[], row: WaitingRow): number {
  let index = line.length;
  for (let before = line[index - 1]; before !== undefined && isBefore(row, before); before = line[index - 1])
    index -= 1;
  return index;
}

/** The order of the index `deliveries_waiting`. */
function isBefore(one: WaitingRow, other: WaitingRow): boolean {
  return one.dueAt === other.dueAt ? one.position < other.position : one.dueAt < other.dueAt;
}
