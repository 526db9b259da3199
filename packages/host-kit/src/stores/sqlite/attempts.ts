import type { DatabaseSync } from 'node:sqlite';
import { ATTEMPTS_KEPT, type AttemptLog } from '../../ports/attempts.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { attemptOf, phasesColumn } from '../sql/attempts.ts';
import { integer, text } from '../sql/row.ts';
import { decoded, encoded, type JournalledAttempt, JournalledAttempts, rounded } from './attempt-journal.ts';
import type { Writer } from './writer.ts';

// A subscription may have been removed during its attempt. Its attempts are not stored: nothing would delete them.
const INSERT = `INSERT OR REPLACE INTO attempts
  (webhook_id, slot, position, delivery_id, run_id, sequence, event_type, attempt, at, duration_us, outcome, status, reason,
   phases)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14
  WHERE EXISTS (SELECT 1 FROM subscriptions WHERE webhook_id = ?1)`;
const LAST = 'SELECT coalesce(max(position), 0) AS position FROM attempts WHERE webhook_id = ?';
const LIST = 'SELECT * FROM attempts WHERE webhook_id = ? AND position < ? ORDER BY position DESC LIMIT ?';
const DROP = 'DELETE FROM attempts WHERE webhook_id = ?';
const JOURNAL = 'INSERT INTO attempt_journal (id, attempts) VALUES (?, ?)';
const JOURNALLED = 'SELECT id, attempts FROM attempt_journal ORDER BY id';
const FORGET = 'DELETE FROM attempt_journal WHERE id < ?';

/**
 * The attempts of each subscription as a ring of `ATTEMPTS_KEPT` rows. A new attempt overwrites the oldest, so nothing
 * has to be pruned. An attempt is stored in the journal first, and moved to its ring later, with others of the same
 * subscription: the rings of many subscriptions are in as many places of the file.
 */
export interface AttemptRings extends AttemptLog {
  /** Deletes the ring of a subscription, in the transaction that removes it. */
  drop(webhookId: string, transaction: Transaction): void;
  /** Moves all attempts of the journal to the rings. For the end of the process. */
  moveAll(): Promise<void>;
  /** Empties the journal when it may have attempts of removed subscriptions. */
  tidy(): Promise<void>;
}

export interface AttemptLogOptions {
  readonly reader: DatabaseSync;
  readonly database: DatabaseSync;
  readonly writer: Writer;
  /** Returns true when the subscription exists, as committed. */
  readonly exists: (webhookId: string) => boolean;
  /** When attempts are moved. Default: `MOST`. */
  readonly most?: typeof MOST;
}

export function attemptLog(options: AttemptLogOptions): AttemptRings {
  return new JournalledLog(options);
}

/** The attempts that may wait in memory, those in the rows of the journal, and the moves between two clean-ups. */
const MOST = { inMemory: 10_000, inRows: 60_000, movesBetween: 64 };

class JournalledLog implements AttemptRings {
  readonly #writer: Writer;
  readonly #exists: (webhookId: string) => boolean;
  readonly #most: typeof MOST;
  readonly #waiting = new JournalledAttempts(ATTEMPTS_KEPT);
  /** The subscriptions whose attempts an open transaction moves. */
  readonly #moving = new Set<string>();
  /** Position of the newest committed attempt by subscription. */
  readonly #positions = new Map<string, number>();
  /** The same, of the transactions that share the open commit. One of them that is undone leaves a gap. */
  readonly #openPositions = new Map<string, number>();
  #lastRow = 0;
  /** The last row that is committed. */
  #committedRow = 0;
  #moves = 0;
  /** A subscription was removed while attempts of it were in the journal. */
  #isUntidy = false;
  readonly #statements;

  constructor({ reader, database, writer, exists, most = MOST }: AttemptLogOptions) {
    this.#writer = writer;
    this.#exists = exists;
    this.#most = most;
    this.#statements = {
      insert: database.prepare(INSERT),
      last: database.prepare(LAST),
      drop: database.prepare(DROP),
      journal: database.prepare(JOURNAL),
      forget: database.prepare(FORGET),
      list: reader.prepare(LIST),
    };
    for (const row of database.prepare(JOURNALLED).iterate()) {
      this.#lastRow = integer(row, 'id');
      this.#waiting.add(this.#lastRow, decoded(text(row, 'attempts')));
    }
    for (const webhookId of [...this.#waiting.webhookIds()]) {
      if (!exists(webhookId)) this.#waiting.drop(webhookId);
    }
    this.#committedRow = this.#lastRow;
    this.#isUntidy = this.#lastRow > 0;
  }

  async record(records: Parameters<AttemptLog['record']>[0], transaction: Transaction): Promise<void> {
    this.#writer.require(transaction);
    if (records.length === 0) return;
    const attempts = records.map((record) => ({
      position: this.#nextPosition(record.webhookId),
      record: { ...record, durationMs: rounded(record.durationMs) },
    }));
    this.#lastRow += 1;
    const id = this.#lastRow;
    this.#statements.journal.run(id, encoded(attempts));
    this.#writer.whenCommitted(transaction, () => {
      this.#committedRow = id;
      // Read after the commit: the same commit may remove the subscription.
      const kept = attempts.filter(({ record }) => this.#exists(record.webhookId));
      this.#isUntidy ||= kept.length < attempts.length;
      this.#waiting.add(id, kept);
      for (const { position, record } of kept) this.#positions.set(record.webhookId, position);
    });
    this.#writer.whenEnded(transaction, () => this.#openPositions.clear());
    this.#moveSome(records.length, transaction);
  }

  async list(webhookId: string, limit: number) {
    const most = Math.min(limit, ATTEMPTS_KEPT);
    const waiting = this.#waiting.of(webhookId);
    const newest = most === 0 ? [] : waiting.slice(-most).map(({ record }) => record);
    const before = waiting[0]?.position ?? Number.MAX_SAFE_INTEGER;
    const left = most - newest.length;
    const older = left === 0 ? [] : this.#statements.list.all(webhookId, before, left).map(attemptOf);
    return [...newest.reverse(), ...older];
  }

  drop(webhookId: string, transaction: Transaction): void {
    this.#writer.require(transaction);
    this.#statements.drop.run(webhookId);
    this.#writer.whenCommitted(transaction, () => {
      this.#isUntidy ||= this.#lastRow > 0;
      this.#waiting.drop(webhookId);
      this.#positions.delete(webhookId);
    });
  }

  async moveAll(): Promise<void> {
    if (this.#waiting.inRows === 0 && !this.#isUntidy) return;
    // Set again by a removal that shares the commit.
    this.#isUntidy = false;
    try {
      await this.#writer.transaction(async (transaction) => {
        for (const webhookId of this.#waiting.webhookIds()) this.#move(webhookId, transaction);
        // Rows that the same commit adds stay.
        this.#forgetBefore(this.#committedRow + 1, transaction);
      });
    } catch (error) {
      this.#isUntidy = true;
      throw error;
    }
  }

  async tidy(): Promise<void> {
    if (this.#isUntidy) await this.moveAll();
  }

  /**
   * Moves attempts while too many wait, one subscription after another. A transaction moves at least as many as it adds,
   * and not many more, so that it stays short.
   */
  #moveSome(added: number, transaction: Transaction): void {
    let over = Math.max(this.#waiting.inMemory - this.#most.inMemory, this.#waiting.inRows - this.#most.inRows);
    if (over <= 0) return;
    over = Math.min(over, 2 * added);
    for (const webhookId of this.#waiting.webhookIds()) {
      if (over <= 0) break;
      if (this.#moving.has(webhookId)) continue;
      over -= Math.max(this.#move(webhookId, transaction), 1);
      this.#moves += 1;
    }
    if (this.#moves < this.#most.movesBetween) return;
    this.#moves = 0;
    const needed = this.#waiting.firstNeeded();
    if (needed !== undefined) this.#forgetBefore(needed, transaction);
  }

  /** Moves the attempts of a subscription and returns their number. */
  #move(webhookId: string, transaction: Transaction): number {
    const attempts = [...this.#waiting.of(webhookId)];
    for (const attempt of attempts) this.#insert(attempt);
    const upTo = attempts.at(-1)?.position ?? 0;
    this.#moving.add(webhookId);
    this.#writer.whenEnded(transaction, () => this.#moving.delete(webhookId));
    this.#writer.whenCommitted(transaction, () => this.#waiting.moved(webhookId, upTo));
    return attempts.length;
  }

  #insert({ position, record }: JournalledAttempt): void {
    const { webhookId, deliveryId, runId, sequence, eventType, attempt, at, durationMs, outcome } = record;
    const { status = null, reason = null } = record;
    const which = [webhookId, position % ATTEMPTS_KEPT, position, deliveryId, runId, sequence, eventType] as const;
    const micros = Math.round(durationMs * 1000);
    this.#statements.insert.run(...which, attempt, at, micros, outcome, status, reason, phasesColumn(record));
  }

  #forgetBefore(id: number, transaction: Transaction): void {
    this.#statements.forget.run(id);
    this.#writer.whenCommitted(transaction, () => this.#waiting.deletedBefore(id));
  }

  #nextPosition(webhookId: string): number {
    if (this.#positions.size > MAX_POSITIONS) this.#positions.clear();
    const open = this.#openPositions.get(webhookId);
    const next = 1 + (open ?? this.#positions.get(webhookId) ?? this.#newest(webhookId));
    this.#openPositions.set(webhookId, next);
    return next;
  }

  #newest(webhookId: string): number {
    const stored = integer(this.#statements.last.get(webhookId) ?? {}, 'position');
    return Math.max(stored, this.#waiting.of(webhookId).at(-1)?.position ?? 0);
  }
}

const MAX_POSITIONS = 20_000;
