import type pg from 'pg';
import { type Transaction, transactionMark } from '../../ports/transaction.ts';
import { importedDriver } from '../../postgres-driver.ts';
import type { Database } from './database.ts';

/**
 * Connects a client for a command. Its statements may take an hour, because they read or write whole tables; a
 * transaction without a statement ends after ten minutes.
 *
 * @throws {Error} when the database cannot be reached within 10 s
 */
export async function commandClient(url: string): Promise<pg.Client> {
  const { Client } = await importedDriver('postgresStore');
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    statement_timeout: 3_600_000,
    idle_in_transaction_session_timeout: 600_000,
  });
  // Without an error listener, a connection that breaks would end the process. The statement under way rejects anyway.
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** The one transaction of a client as a database. */
export interface WithinClient extends Database {
  /**
   * Runs the statements of `withCommit`, and further ones after them, in one exchange with the server. With `COMMIT` as the last of them,
   * no round trip passes while the locks are held on which every host waits.
   */
  end(...texts: readonly string[]): Promise<void>;
}

/** Returns the transaction of a client, for parts of a store that work within it. */
export function withinClient(client: pg.ClientBase): WithinClient {
  const query: Database['query'] = async (statement, values) => {
    const { rows, rowCount } = await client.query({ ...statement, values: [...values] });
    return { rows, count: rowCount ?? 0 };
  };
  const transaction: Transaction = { [transactionMark]: true };
  const last: string[] = [];
  return {
    query,
    transaction: (work) => work(transaction),
    within: (_transaction, statement, values) => query(statement, values),
    withCommit(_transaction, _lock, text) {
      last.push(text);
    },
    literal: (text) => client.escapeLiteral(text),
    async end(...texts) {
      const all = [...last.splice(0), ...texts];
      if (all.length > 0) await client.query(all.join(';\n'));
    },
    close: async () => {},
  };
}
