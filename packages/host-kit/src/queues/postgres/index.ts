import type pg from 'pg';
import { sleep } from '../../ports/clock.ts';
import type { ConsumeOptions, QueueConsumer, QueueVerdict } from '../../ports/queues.ts';
import { requiredDriver } from '../../postgres-driver.ts';
import { tableName } from './table.ts';

export type { ConsumeOptions, QueueConsumer, QueueMessage, QueueVerdict } from '../../ports/queues.ts';
export { postgresQueueTable } from './table.ts';

/** Options of `postgresQueues`. */
export interface PostgresQueuesOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** The table of `postgresQueueTable`, with or without a schema. Default `svc_queue`. */
  readonly table?: string;
  /** The most connections, each of which works on the messages of one queue. Default 4. */
  readonly connections?: number;
  /** The pause after a look that found fewer messages than the prefetch, in ms. Default 500. */
  readonly pollMs?: number;
  /**
   * Called with errors that belong to no call, such as that of an idle connection that breaks. It must not throw. Default: they are
   * ignored.
   */
  readonly onError?: (cause: unknown) => void;
}

/**
 * Consumes queues in a table of PostgreSQL 13 or later. A transaction locks the messages that it delivers, so hosts compete for them;
 * its commit deletes those that were acknowledged. A host that ends gives back all others at once. Messages have no order.
 *
 * @throws {TypeError} for a table whose name is not one, and numbers out of range
 * @throws {Error} when the package `pg` is not installed
 *
 * @example
 * const orders = postgresQueues({ url: 'postgres://svc@db.example.com/shop' });
 * const grants = [{ tenant: 'acme', queues: ['orders'] }];
 * createHost({ ...options, triggers: { queues: { shop: { consumer: orders, grants } } } });
 */
export function postgresQueues(options: PostgresQueuesOptions): QueueConsumer {
  const { url, table = 'svc_queue', connections = 4, pollMs = 500, onError = () => {} } = options;
  const statements = statementsOn(tableName(table));
  if (!(Number.isSafeInteger(connections) && connections >= 1))
    throw new TypeError('connections: must be a whole number, at least 1. Leave it out for 4.');
  if (!(pollMs >= 10)) throw new TypeError('pollMs: must be at least 10. Leave it out for 500.');
  const { Pool } = requiredDriver('postgresQueues');
  const pool = new Pool({
    connectionString: url,
    max: connections,
    // Every wait has a limit: for a connection, for a statement, and for a host that hangs with locked messages.
    connectionTimeoutMillis: 10_000,
    statement_timeout: STATEMENT_MS,
    query_timeout: STATEMENT_MS * 1.5,
    idle_in_transaction_session_timeout: 60_000,
    keepAlive: true,
    application_name: 'svc-queues',
  });
  // Without a listener, a connection that breaks would end the process.
  pool.on('connect', (client) => client.on('error', onError));
  pool.on('error', () => {});

  return {
    async consume(consuming) {
      const { prefetch, signal, clock } = consuming;
      while (!signal.aborted) {
        const found = await delivered(pool, statements, consuming);
        if (found < prefetch) await sleep(clock, pollMs, signal).catch(() => {});
      }
    },
    close: () => pool.end(),
  };
}

const STATEMENT_MS = 15_000;

interface Statements {
  readonly next: string;
  readonly forget: string;
}

function statementsOn(table: string): Statements {
  return {
    next: `SELECT message_id, left(body, $3::int) AS body FROM ${table} WHERE queue = $1 AND available_at <= now()
      ORDER BY available_at LIMIT $2 FOR UPDATE SKIP LOCKED`,
    forget: `DELETE FROM ${table} WHERE queue = $1 AND message_id = ANY($2::text[])`,
  };
}

/** Delivers the messages that are due, up to the prefetch, and returns their number. */
async function delivered(pool: pg.Pool, { next, forget }: Statements, consuming: ConsumeOptions): Promise<number> {
  const { queue, prefetch, maxBytes, receive } = consuming;
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('BEGIN');
    // So many bytes have at most so many characters.
    const found = await client.query<MessageRow>(next, [queue, prefetch, Math.min(maxBytes + 1, MOST_CHARACTERS)]);
    const verdicts = await Promise.all(
      found.rows.map(async ({ message_id, body }): Promise<readonly [string, QueueVerdict]> => {
        return [message_id, await receive({ id: message_id, body: Buffer.from(body) })];
      }),
    );
    const taken = verdicts.filter(([, verdict]) => verdict === 'acknowledge').map(([id]) => id);
    if (taken.length > 0) await client.query(forget, [queue, taken]);
    await client.query('COMMIT');
    return found.rows.length;
  } catch (error) {
    // The connection is discarded, which ends its transaction: the messages are delivered again.
    broken = error instanceof Error ? error : new Error('The connection failed.');
    throw error;
  } finally {
    client.release(broken);
  }
}

interface MessageRow {
  readonly message_id: string;
  readonly body: string;
}

const MOST_CHARACTERS = 2 ** 31 - 1;
