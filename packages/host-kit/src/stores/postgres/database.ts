import pg from 'pg';
import { type Transaction, transactionMark } from '../../ports/transaction.ts';
import type { Row } from '../sql/row.ts';

/** One pool of connections, and the transactions on it. */
export interface Database {
  /** Runs a statement by itself, and sees what is committed. */
  query(statement: Statement, values: readonly unknown[]): Promise<Result>;
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Runs a statement in a transaction; throws unless it is open. */
  within(transaction: Transaction, statement: Statement, values: readonly unknown[]): Promise<Result>;
  close(): Promise<void>;
}

/** Prepared once on each connection, under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export interface Result {
  readonly rows: readonly Row[];
  readonly count: number;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly schema: string;
  readonly connections: number;
  readonly onError: (cause: unknown) => void;
  /** How long a statement may take. Default 15 s: whatever it was for is another's by then. */
  readonly statementMs?: number;
}

export function openDatabase(options: DatabaseOptions): Database {
  const { url, schema, connections, onError, statementMs = 15_000 } = options;
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    // Nothing waits without an end: not for a connection, not for a statement, not inside of a transaction.
    connectionTimeoutMillis: 10_000,
    statement_timeout: statementMs,
    // A server that stands still, or a network that has gone, ends no statement.
    query_timeout: statementMs * 1.5,
    keepAlive: true,
    // A transaction waits for nothing but the database. A host that stands still within one would hold all others up at the audit log.
    idle_in_transaction_session_timeout: 5_000,
    options: `-c search_path=${schema}`,
  });
  // Each connection is listened to from its beginning to its end: an unheard one that breaks would end the process. Whoever uses it
  // learns of it by a rejection, and one that nobody uses is replaced.
  pool.on('connect', (client) => client.on('error', onError));
  pool.on('error', () => {});
  const open = new WeakMap<Transaction, pg.PoolClient>();

  return {
    query: async (statement, values) => resultOf(await pool.query({ ...statement, values: [...values] })),
    async transaction(work) {
      for (let left = MOST_TRIES; ; left--) {
        try {
          return await attempted(work);
        } catch (error) {
          if (left === 1 || !isUndoneByOthers(error)) throw error;
        }
      }
    },
    async within(transaction, statement, values) {
      const client = open.get(transaction);
      if (client === undefined) throw new Error('The transaction has ended, or belongs to another store.');
      return resultOf(await client.query({ ...statement, values: [...values] }));
    },
    close: () => pool.end(),
  };

  async function attempted<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    const transaction: Transaction = { [transactionMark]: true };
    let broken: Error | undefined;
    try {
      await client.query('BEGIN');
      open.set(transaction, client);
      const result = await work(transaction);
      open.delete(transaction);
      // A failed statement undoes the whole transaction, also when whoever asked for it took no notice; then this is no error.
      const { command } = await client.query('COMMIT');
      if (command !== 'COMMIT') throw new Error('The transaction was undone, because a statement in it had failed.');
      return result;
    } catch (error) {
      open.delete(transaction);
      // A connection on which something is still under way does not come to it, and is not used again.
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

/** Of several transactions that wait for each other the database undoes one; nothing of it has happened, so it is tried again. */
const MOST_TRIES = 4;

/** @see PostgreSQL, error codes, class 40: transaction rollback */
function isUndoneByOthers(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return code === '40P01' || code === '40001';
}

const ROLLBACK_MS = 2000;

function resultOf({ rows, rowCount }: pg.QueryResult<Record<string, unknown>>): Result {
  return { rows, count: rowCount ?? 0 };
}
