import pg from 'pg';
import { type Transaction, transactionMark } from '../../ports/transaction.ts';
import type { Row } from '../sql/row.ts';
import { applicationName } from './migrate.ts';

/** A pool of connections to one database, and the transactions on it. */
export interface Database {
  /** Runs a statement outside of any transaction. It sees committed rows only. */
  query(statement: Statement, values: readonly unknown[]): Promise<Result>;
  /** @see Store.transaction */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /**
   * Runs a statement in a transaction.
   *
   * @throws {Error} when the transaction has ended or belongs to another store
   */
  within(transaction: Transaction, statement: Statement, values: readonly unknown[]): Promise<Result>;
  /**
   * Has a statement without parameters run with the commit, after all work and in the same exchange with the server: for a
   * lock on which transactions of every host wait. No round trip passes while it is held, so a host that hangs does not hold
   * it, however many of its transactions wait for it. Each statement sees what was committed when it began.
   *
   * @param lock all transactions take these locks in one order, so none waits for another in a circle
   * @throws {Error} when the transaction has ended or belongs to another store
   */
  withCommit(transaction: Transaction, lock: CommitLock, text: string): void;
  /** Returns a text as a literal of SQL, for statements without parameters. */
  literal(text: string): string;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** An SQL statement. Each connection prepares it once, under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** A lock that is taken with the commit. */
export type CommitLock = (typeof COMMIT_LOCKS)[number];

/** In the order in which they are taken. */
const COMMIT_LOCKS = ['audit-queue', 'audit', 'key-feed'] as const;

/** The result of a statement. */
export interface Result {
  readonly rows: readonly Row[];
  /** Number of rows that it returned or changed. */
  readonly count: number;
}

/** Options of `openDatabase`. */
export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** The schema that unqualified table names refer to. */
  readonly schema: string;
  /** Maximum number of connections. */
  readonly connections: number;
  /** Called with the error of a connection that breaks. */
  readonly onError: (cause: unknown) => void;
  /**
   * Time limit of a statement in ms. Default 15 000, the lease of a run: a slower statement would act for a lost lease.
   */
  readonly statementMs?: number;
}

/** Opens a pool. Connections are made when they are first needed. */
export function openDatabase(options: DatabaseOptions): Database {
  const { url, schema, connections, onError, statementMs = 15_000 } = options;
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    // Every wait has a time limit: for a connection, for a statement, and within a transaction.
    connectionTimeoutMillis: 10_000,
    statement_timeout: statementMs,
    // Client-side limit: a server that hangs, or a broken network, does not enforce statement_timeout.
    query_timeout: statementMs * 1.5,
    keepAlive: true,
    // A host that hangs within a transaction would block the appends of all others to the audit log.
    idle_in_transaction_session_timeout: 5_000,
    options: `-c search_path=${schema}`,
    // Tells other hosts which schema version this one knows.
    application_name: applicationName(schema),
  });
  // Without an error listener, a connection that breaks would end the process. A statement under way on it rejects
  // anyway, and the pool replaces an idle one.
  pool.on('connect', (client) => client.on('error', onError));
  pool.on('error', () => {});
  const open = new WeakMap<Transaction, Open>();

  return {
    query: async (statement, values) => resultOf(await pool.query({ ...statement, values: [...values] })),
    async transaction(work) {
      for (let left = MAX_TRIES; ; left--) {
        try {
          return await attempted(work);
        } catch (error) {
          if (left === 1 || !isConflict(error)) throw error;
        }
      }
    },
    async within(transaction, statement, values) {
      const { client } = required(transaction);
      return resultOf(await client.query({ ...statement, values: [...values] }));
    },
    withCommit(transaction, lock, text) {
      required(transaction).last[lock].push(text);
    },
    literal: pg.escapeLiteral,
    close: () => pool.end(),
  };

  function required(transaction: Transaction): Open {
    const found = open.get(transaction);
    if (found !== undefined) return found;
    throw new Error('transaction: has ended, or belongs to another store. Use it only within its work.');
  }

  async function attempted<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    const transaction: Transaction = { [transactionMark]: true };
    let broken: Error | undefined;
    try {
      await client.query('BEGIN');
      const last: Open['last'] = { 'audit-queue': [], audit: [], 'key-feed': [] };
      open.set(transaction, { client, last });
      const result = await work(transaction);
      open.delete(transaction);
      // After a failed statement, PostgreSQL answers COMMIT with a rollback instead of an error, even if `work` ignored
      // the failure.
      const texts = COMMIT_LOCKS.flatMap((lock) => last[lock]);
      // The driver returns a list for several statements, and one result for one.
      const results = [await client.query([...texts, 'COMMIT'].join(';\n'))].flat();
      if (results.at(-1)?.command !== 'COMMIT') {
        throw new Error(
          'transaction: was rolled back, because `work` caught the error of a statement. Let that error propagate.',
        );
      }
      return result;
    } catch (error) {
      open.delete(transaction);
      // A statement that is still under way delays the rollback. Past its time limit the connection is discarded.
      const rollback = { text: 'ROLLBACK', query_timeout: ROLLBACK_MS };
      await client.query(rollback).catch((cause: Error) => {
        broken = cause;
      });
      throw error;
    } finally {
      client.release(broken);
    }
  }
}

/** An open transaction. */
interface Open {
  readonly client: pg.PoolClient;
  /** Run with the commit. */
  readonly last: Readonly<Record<CommitLock, string[]>>;
}

/**
 * Number of times that a transaction is tried when it conflicts with others. The database has rolled it back, so
 * nothing happens twice.
 */
const MAX_TRIES = 4;

/**
 * Returns true for a deadlock and a serialization failure.
 *
 * @see PostgreSQL, error codes, class 40: transaction rollback
 */
function isConflict(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return code === '40P01' || code === '40001';
}

/** Time limit of a rollback. */
const ROLLBACK_MS = 2000;

function resultOf({ rows, rowCount }: pg.QueryResult<Record<string, unknown>>): Result {
  return { rows, count: rowCount ?? 0 };
}
