import type { DatabaseSync } from 'node:sqlite';
import type { Transaction } from '../../ports/transaction.ts';
import { integer, type Row, text } from '../sql/row.ts';
import { applying } from './apply-writes.ts';
import {
  type EventColumns,
  type JournalRow,
  journalColumns,
  journalRowOf,
  type MovingState,
  type PositionedDelivery,
} from './journal-rows.ts';
import { type MostKept, PendingWrites } from './pending-writes.ts';
import type { Writer } from './writer.ts';

const ADD = 'INSERT INTO write_journal (id, kind, entries, bodies) VALUES (?, ?, ?, ?)';
const ROWS = 'SELECT id, kind, entries, bodies FROM write_journal ORDER BY id';

/**
 * A journal in front of the tables. What a delivery writes lies in as many places of the file as there are runs and
 * subscriptions, and a commit writes each of these pages again. In the journal it is a row, which is as durable. The
 * journal is applied to the tables many entries at a time: after `MOST`, before a transaction or a read
 * that needs the tables, at the close, and at the start after a crash.
 *
 * The open transaction sees `pending`. Readers see the tables and `committed`.
 */
export class WriteJournal {
  readonly #writer: Writer;
  readonly #apply: (pending: PendingWrites, kept: PendingWrites) => void;
  readonly #statement;
  readonly #most: MostInJournal;
  #pending = new PendingWrites();
  readonly #committed = new CommittedWrites();
  /** The rows that are committed, and not in the tables. */
  #committedRows = 0;
  /** Ids rise for the whole time of the process, so that an id stands for one row. */
  #lastId = 0;
  /** Set while an application is waited for. */
  #flushing: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** The journal must be empty: see `recoverJournal`. */
  constructor({ database, writer, most = MOST }: WriteJournalOptions) {
    this.#writer = writer;
    this.#most = most;
    this.#apply = applying(database);
    this.#statement = database.prepare(ADD);
  }

  /** The content of the journal as the open transaction sees it, its own writes included. */
  get pending(): Readonly<PendingWrites> {
    return this.#pending;
  }

  /** The content of the journal that readers see beside the tables. */
  get committed(): Readonly<CommittedWrites> {
    return this.#committed;
  }

  /** Writes a row in a transaction. */
  add(row: JournalRow, transaction: Transaction): void {
    this.#writer.require(transaction);
    this.#lastId += 1;
    const { kind, entries, bodies } = journalColumns(row);
    this.#statement.run(this.#lastId, kind, entries, bodies);
    const undo = this.#pending.add(this.#lastId, row);
    this.#pending.bytes += entries.length;
    this.#writer.whenUndone(transaction, undo);
    this.#writer.whenCommitted(transaction, () => {
      this.#committed.add(row);
      this.#committedRows += 1;
      this.#schedule();
    });
  }

  /** Notes that a transaction has written the state of a run to its table. */
  written(runId: string, transaction: Transaction): void {
    this.#writer.whenUndone(transaction, this.#pending.forgetMove(runId));
    this.#writer.whenCommitted(transaction, () => void this.#committed.moves.delete(runId));
  }

  /**
   * Applies the journal to the tables in a transaction, with what the transaction has added.
   *
   * @param kept the deliveries that stay in the journal; default: none
   */
  apply(transaction: Transaction, kept = new PendingWrites()): void {
    this.#writer.require(transaction);
    const applied = this.#pending;
    if (applied.rows === 0) return;
    this.#apply(applied, kept);
    this.#pending = kept;
    const rows = applied.rows - kept.rows;
    this.#writer.whenUndone(transaction, () => {
      this.#pending = applied;
    });
    this.#writer.whenCommitted(transaction, () => {
      this.#committed.applied(applied);
      this.#committedRows -= rows;
    });
  }

  /** Resolves when everything that is committed now is in the tables. Not within a transaction: it would wait for itself. */
  async flush(): Promise<void> {
    if (this.#committedRows === 0) return;
    await this.#writer.transaction(async (transaction) => this.apply(transaction));
  }

  /**
   * Applies the journal, for a read of deliveries. A store that cannot write, for example on a full disk, can still be read.
   *
   * @returns the deliveries that are not in the table, because the journal could not be applied
   */
  async unflushed(): Promise<readonly PositionedDelivery[]> {
    try {
      await this.flush();
      return [];
    } catch {
      return [...this.#pending.deliveries].map(([position, { delivery }]) => ({ position, delivery }));
    }
  }

  /** Ends the applications by time, and applies the journal. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.flush();
  }

  /** Applies the journal now if it is long, or else later. */
  #schedule(): void {
    if (this.#flushing !== undefined || this.#isClosed) return;
    const { entries, bytes } = this.#pending;
    if (entries >= this.#most.entries || bytes >= this.#most.bytes) this.#flushInTurn();
    else this.#flushLater();
  }

  #flushLater(): void {
    if (!this.#isClosed) this.#timer ??= setTimeout(() => this.#flushInTurn(), this.#most.ms).unref();
  }

  #flushInTurn(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushing ??= this.#writer
      .transaction(async (transaction) => this.apply(transaction, this.#pending.kept(this.#most.kept)))
      // A store that cannot write keeps its journal, and tries again later.
      .catch(() => {})
      .finally(() => {
        this.#flushing = undefined;
        if (this.#committedRows > 0) this.#flushLater();
      });
  }
}

export interface WriteJournalOptions {
  readonly database: DatabaseSync;
  readonly writer: Writer;
  /** When the journal is applied. Default: `MOST`. */
  readonly most?: MostInJournal;
}

export interface MostInJournal {
  readonly entries: number;
  readonly bytes: number;
  readonly ms: number;
  readonly kept: MostKept;
}

/** The entries and the bytes (see `PendingWrites`) after which the journal is applied, and the time after which it is applied in any case. */
const MOST: MostInJournal = {
  entries: 2000,
  bytes: 4 * 1024 * 1024,
  // So long that the pauses are too few for the 99 % of latency at 200 events a second.
  ms: 3000,
  kept: { applications: 4, deliveries: 8000, bytes: 4 * 1024 * 1024 },
};

/** The committed rows of the journal that readers of the tables have to add. */
class CommittedWrites {
  /** In the order of their positions. */
  readonly events: EventColumns[] = [];
  readonly moves = new Map<string, MovingState>();
  readonly #eventsOf = new Map<string, EventColumns[]>();

  /** Returns the events of a run, in their order. */
  eventsOf(runId: string): readonly EventColumns[] {
    return this.#eventsOf.get(runId) ?? [];
  }

  /** Returns the row of a run with the state that the journal has. */
  ofRun(row: Row): Row {
    return movedRow(row, this.moves.get(text(row, 'run_id')));
  }

  add(row: JournalRow): void {
    if (row.kind === 'moves') for (const [runId, ...state] of row.moves) this.moves.set(runId, state);
    if (row.kind !== 'events') return;
    for (const event of row.events) {
      this.events.push(event);
      const known = this.#eventsOf.get(event[0]);
      if (known === undefined) this.#eventsOf.set(event[0], [event]);
      else known.push(event);
    }
  }

  /** Removes what is in the tables. */
  applied({ events, moves }: Readonly<PendingWrites>): void {
    for (const [runId, [sequence]] of moves) {
      if ((this.moves.get(runId)?.[0] ?? 0) <= sequence) this.moves.delete(runId);
    }
    const upTo = events.at(-1)?.[10];
    if (upTo === undefined) return;
    const left = this.events.filter(([, , , , , , , , , , position]) => position > upTo);
    this.events.splice(0, this.events.length, ...left);
    this.#eventsOf.clear();
    for (const event of left) this.#eventsOf.set(event[0], [...this.eventsOf(event[0]), event]);
  }
}

/** Returns the row of a run with a state of the journal, unless the row is newer. */
export function movedRow(row: Row, state: MovingState | undefined): Row {
  if (state === undefined || integer(row, 'last_sequence') >= state[0]) return row;
  const [lastSequence, openNodes, currentNodeId, usage] = state;
  return { ...row, last_sequence: lastSequence, open_nodes: openNodes, current_node_id: currentNodeId, usage };
}

/** Reads the journal of a file. */
export function journalOf(database: DatabaseSync): PendingWrites {
  const pending = new PendingWrites();
  for (const row of database.prepare(ROWS).iterate()) pending.add(integer(row, 'id'), journalRowOf(row));
  return pending;
}

/**
 * Applies the journal that a former process left, in one transaction.
 *
 * @throws {Error} when a newer version of the kit wrote it
 */
export function recoverJournal(database: DatabaseSync): void {
  const pending = journalOf(database);
  if (pending.rows === 0) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    applying(database)(pending, new PendingWrites());
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}
