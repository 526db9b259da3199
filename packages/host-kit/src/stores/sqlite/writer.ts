import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { yieldToLoop } from '../../ports/clock.ts';
import { type Transaction, transactionMark } from '../../ports/transaction.ts';
import type { WriteAheadLog } from './write-ahead-log.ts';

/** The transactions of the one writing connection. */
export interface Writer {
  /** @see Store.transaction */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** @throws {Error} when `transaction` is not the open one */
  require(transaction: Transaction): void;
  /**
   * Calls `effect` when the transaction is durable, before its promise resolves; not at all when it is rolled back.
   *
   * @throws {Error} when `transaction` is not the open one
   */
  whenCommitted(transaction: Transaction, effect: () => void): void;
  /**
   * Calls `effect` when the transaction is durable or rolled back.
   *
   * @throws {Error} when `transaction` is not the open one
   */
  whenEnded(transaction: Transaction, effect: () => void): void;
  /**
   * Calls `effect` when the transaction, or the commit that it shares, is rolled back, before any `whenEnded`. Effects are
   * called in the reverse order of their registration.
   *
   * @throws {Error} when `transaction` is not the open one
   */
  whenUndone(transaction: Transaction, effect: () => void): void;
  /** Resolves when no transaction is running or queued. */
  idle(): Promise<void>;
}

/**
 * Runs transactions one after another, and commits those that are queued together, so that they share one flush to
 * disk. Each is a savepoint: one that rejects undoes its own writes alone. All of them settle after the flush of the
 * shared commit; transactions that arrive meanwhile join the next one.
 */
export function writer(database: DatabaseSync, log: Pick<WriteAheadLog, 'begin' | 'commit'>): Writer {
  const turns = new TransactionTurns(database, log);
  return {
    transaction: (work) => turns.transaction(work),
    require: (transaction) => void turns.required(transaction),
    whenCommitted: (transaction, effect) => void turns.required(transaction).effects.push(effect),
    whenEnded: (transaction, effect) => turns.whenEnded(transaction, effect),
    whenUndone: (transaction, effect) => void turns.required(transaction).undoings.push(effect),
    idle: () => turns.idle(),
  };
}

class TransactionTurns {
  readonly #database: DatabaseSync;
  readonly #log: Pick<WriteAheadLog, 'begin' | 'commit'>;
  /** Prepared once, because every transaction runs them. */
  readonly #savepoint: StatementSync;
  readonly #release: StatementSync;
  readonly #undo: StatementSync;
  readonly #queue: Job[] = [];
  /** Set while the queue is being worked off. */
  #draining: Promise<void> | undefined;
  /** The transaction whose work is running, and its `whenCommitted` effects. */
  #open: OpenTransaction | undefined;
  /** The `whenEnded` effects of all transactions that share the commit. */
  #endings: (() => void)[] = [];
  /** The `whenUndone` effects of the transactions that share the commit and were not undone. */
  #undoings: (() => void)[] = [];

  constructor(database: DatabaseSync, log: Pick<WriteAheadLog, 'begin' | 'commit'>) {
    this.#database = database;
    this.#log = log;
    this.#savepoint = database.prepare('SAVEPOINT work');
    this.#release = database.prepare('RELEASE work');
    this.#undo = database.prepare('ROLLBACK TO work');
  }

  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ run: () => this.#inSavepoint(work, resolve, reject), reject });
      this.#draining ??= this.#drain();
    });
  }

  required(transaction: Transaction): OpenTransaction {
    if (this.#open?.transaction !== transaction) {
      throw new Error('transaction: has ended, or belongs to another store. Use it only within its work.');
    }
    return this.#open;
  }

  whenEnded(transaction: Transaction, effect: () => void): void {
    this.required(transaction);
    this.#endings.push(effect);
  }

  async idle(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      // Transactions of the same turn of the event loop join the batch, because a commit costs more than its
      // transactions.
      await yieldToLoop();
      await this.#commitTogether(this.#queue.splice(0, LARGEST_BATCH));
    }
    // No `await` since the queue was found empty: otherwise a transaction queued in between would never run.
    this.#draining = undefined;
  }

  async #commitTogether(jobs: readonly Job[]): Promise<void> {
    const done: Done[] = [];
    try {
      await this.#log.begin();
      for (const job of jobs) done.push(await job.run());
      // In one turn with the reader's step to the new state: a read sees the memory and the tables of one state.
      await this.#log.commit(() => {
        this.#undoings = [];
        this.#end();
        for (const { effects } of done) for (const effect of effects) effect();
      });
    } catch (error) {
      this.#rollBack();
      undo(this.#undoings.splice(0));
      this.#end();
      for (const job of jobs) job.reject(error);
      return;
    }
    for (const { settle } of done) settle();
  }

  async #inSavepoint<T>(
    work: (transaction: Transaction) => Promise<T>,
    resolve: (result: T) => void,
    reject: (error: unknown) => void,
  ): Promise<Done> {
    const transaction: Transaction = { [transactionMark]: true };
    const effects: (() => void)[] = [];
    const undoings: (() => void)[] = [];
    this.#open = { transaction, effects, undoings };
    this.#savepoint.run();
    try {
      const result = await work(transaction);
      this.#release.run();
      this.#undoings.push(...undoings);
      return { effects, settle: () => resolve(result) };
    } catch (error) {
      undo(undoings);
      // On a full disk SQLite rolls back the whole shared commit. Rethrowing rejects all of its transactions.
      if (!this.#database.isTransaction) throw error;
      this.#undo.run();
      this.#release.run();
      return { effects: [], settle: () => reject(error) };
    } finally {
      this.#open = undefined;
    }
  }

  #end(): void {
    const ended = this.#endings;
    this.#endings = [];
    for (const effect of ended) effect();
  }

  /**
   * Rolls back. A failure is ignored: the callers are to get the error that came first, and the next `begin` fails
   * again.
   */
  #rollBack(): void {
    try {
      if (this.#database.isOpen && this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } catch {}
  }
}

/** Maximum number of transactions that share a commit. */
const LARGEST_BATCH = 256;

function undo(effects: readonly (() => void)[]): void {
  for (const effect of effects.toReversed()) effect();
}

interface OpenTransaction {
  readonly transaction: Transaction;
  readonly effects: (() => void)[];
  readonly undoings: (() => void)[];
}

interface Job {
  /** Runs the work in a savepoint. Rejects when the whole batch has to be given up. */
  run(): Promise<Done>;
  reject(error: unknown): void;
}

interface Done {
  /** To be called after the commit. */
  readonly effects: readonly (() => void)[];
  /** Settles the caller's promise. */
  settle(): void;
}
