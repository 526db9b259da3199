import type { DatabaseSync } from 'node:sqlite';
import { yieldToLoop } from '../../ports/clock.ts';
import { type Transaction, transactionMark } from '../../ports/transaction.ts';
import type { WriteAheadLog } from './write-ahead-log.ts';

/** The one connection that writes, and the transactions that take turns on it. */
export interface Writer {
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Throws unless `transaction` is the one open at this moment. */
  require(transaction: Transaction): void;
  /** Runs `effect` once what the transaction wrote is durable, before anybody hears of it; never when it is undone. */
  whenCommitted(transaction: Transaction, effect: () => void): void;
  /** Runs `effect` once nothing more will become of the transaction: it is durable, or undone. */
  whenEnded(transaction: Transaction, effect: () => void): void;
  /** Resolves once everything that was asked for has ended. */
  idle(): Promise<void>;
}

/**
 * Runs transactions one after another and commits those that wait together in one go, so that they share one flush to disk.
 * Each is a savepoint of its own: one that rejects undoes itself and nothing else. None resolves before what the shared commit wrote is
 * on the disk; what is asked for meanwhile waits for the next.
 */
export function writer(database: DatabaseSync, log: Pick<WriteAheadLog, 'begin' | 'commit'>): Writer {
  const queue: Job[] = [];
  // Parsed once: they stand around every transaction.
  const statement = {
    savepoint: database.prepare('SAVEPOINT work'),
    release: database.prepare('RELEASE work'),
    undo: database.prepare('ROLLBACK TO work'),
  };
  let draining: Promise<void> | undefined;
  let open: { readonly transaction: Transaction; readonly effects: (() => void)[] } | undefined;
  /** Of all transactions that share the commit. */
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
              return { effects, tell: () => resolve(result) };
            } catch (error) {
              // On a full disk SQLite undoes all that shares the commit, and everybody hears why.
              if (!database.isTransaction) throw error;
              statement.undo.run();
              statement.release.run();
              return { effects: [], tell: () => reject(error) };
            } finally {
              open = undefined;
            }
          },
          reject,
        });
        draining ??= drain();
      });
    },
    require: (transaction) => void standing(transaction),
    whenCommitted: (transaction, effect) => void standing(transaction).effects.push(effect),
    whenEnded(transaction, effect) {
      standing(transaction);
      endings.push(effect);
    },
    async idle() {
      while (draining !== undefined) await draining;
    },
  };

  function standing(transaction: Transaction) {
    if (open?.transaction !== transaction) throw new Error('The transaction has ended, or belongs to another store.');
    return open;
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      // Whatever else this turn of the event loop asks for joins the batch: a commit costs more than all of its transactions.
      await yieldToLoop();
      await commitTogether(queue.splice(0, LARGEST_BATCH));
    }
    // In the same step as the last look at the queue, so that nothing can be left in it.
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
    for (const { tell } of done) tell();
  }

  function end(): void {
    const ended = endings;
    endings = [];
    for (const effect of ended) effect();
  }

  /** One that fails leaves the transaction to the next try: whoever waits hears what went wrong first, and nobody waits forever. */
  function rollBack(): void {
    try {
      if (database.isOpen && database.isTransaction) database.exec('ROLLBACK');
    } catch {}
  }
}

const LARGEST_BATCH = 256;

interface Job {
  /** Does the work and returns what is left to do after the commit. */
  run(): Promise<Done>;
  reject(error: unknown): void;
}

interface Done {
  readonly effects: readonly (() => void)[];
  /** Tells the caller. */
  tell(): void;
}
