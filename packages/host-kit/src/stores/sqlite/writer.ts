import type { DatabaseSync } from 'node:sqlite';
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
  /** Resolves when no transaction is running or queued. */
  idle(): Promise<void>;
}

/**
 * Runs transactions one after another, and commits those that are queued together, so that they share one flush to
 * disk. Each is a savepoint: one that rejects undoes its own writes alone. All of them settle after the flush of the
 * shared commit; transactions that arrive meanwhile join the next one.
 */
export function writer(database: DatabaseSync, log: Pick<WriteAheadLog, 'begin' | 'commit'>): Writer {
  const queue: Job[] = [];
  // Prepared once, because every transaction runs them.
  const statement = {
    savepoint: database.prepare('SAVEPOINT work'),
    release: database.prepare('RELEASE work'),
    undo: database.prepare('ROLLBACK TO work'),
  };
  let draining: Promise<void> | undefined;
  let open: { readonly transaction: Transaction; readonly effects: (() => void)[] } | undefined;
  /** The `whenEnded` effects of all transactions that share the commit. */
  let endings: (() => void)[] = [];

  return {
    transaction(work) {
      return new Promise((resolve, reject) => {
        queue.push({
          async run() {
            const transaction: Transaction = { [transactionMark]: true };
            const effects: (() => void)[] = [];
            open = { transaction, effects };
            statement.savepoint.run();
            try {
              const result = await work(transaction);
              statement.release.run();
              return { effects, settle: () => resolve(result) };
            } catch (error) {
              // On a full disk SQLite rolls back the whole shared commit. Rethrowing rejects all of its transactions.
              if (!database.isTransaction) throw error;
              statement.undo.run();
              statement.release.run();
              return { effects: [], settle: () => reject(error) };
            } finally {
              open = undefined;
            }
          },
          reject,
        });
        draining ??= drain();
      });
    },
    require: (transaction) => void required(transaction),
    whenCommitted: (transaction, effect) => void required(transaction).effects.push(effect),
    whenEnded(transaction, effect) {
      required(transaction);
      endings.push(effect);
    },
    async idle() {
      while (draining !== undefined) await draining;
    },
  };

  function required(transaction: Transaction) {
    if (open?.transaction !== transaction) throw new Error('The transaction has ended, or belongs to another store.');
    return open;
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      // Transactions of the same turn of the event loop join the batch, because a commit costs more than its
      // transactions.
      await yieldToLoop();
      await commitTogether(queue.splice(0, LARGEST_BATCH));
    }
    // No `await` since the queue was found empty: otherwise a transaction queued in between would never run.
    draining = undefined;
  }

  async function commitTogether(jobs: readonly Job[]): Promise<void> {
    const done: Done[] = [];
    try {
      log.begin();
      for (const job of jobs) done.push(await job.run());
      await log.commit();
    } catch (error) {
      rollBack();
      end();
      for (const job of jobs) job.reject(error);
      return;
    }
    end();
    for (const { effects } of done) for (const effect of effects) effect();
    for (const { settle } of done) settle();
  }

  function end(): void {
    const ended = endings;
    endings = [];
    for (const effect of ended) effect();
  }

  /**
   * Rolls back. A failure is ignored: the callers are to get the error that came first, and the next `begin` fails
   * again.
   */
  function rollBack(): void {
    try {
      if (database.isOpen && database.isTransaction) database.exec('ROLLBACK');
    } catch {}
  }
}

const LARGEST_BATCH = 256;

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
