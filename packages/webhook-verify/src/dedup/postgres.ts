import { type OptionNames, requireKnown } from '../known-options.ts';
import { DEDUP_OPTIONS, type DedupOptions, dedupTimes, type ProlongingDedupStore } from './dedup.ts';

/**
 * The part of a PostgreSQL client that the store uses. A `Pool` of `pg` fits, and so does any other client with `$1`
 * parameters.
 */
export interface PostgresQuery {
  /** Runs one statement, and resolves to its rows. */
  query(text: string, values: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

/** The options of {@link postgresDedupStore}. */
export interface PostgresDedupOptions extends DedupOptions {
  /** The table, with an optional schema: lower case, at most one dot. Default `svc_webhook_dedup`. */
  readonly table?: string;
}

/** A dedup store in PostgreSQL. */
export interface PostgresDedupStore extends ProlongingDedupStore {
  /** Creates the table and its index unless they exist. Several processes may call it at once. */
  migrate(): Promise<void>;
}

const POSTGRES_OPTIONS: OptionNames<PostgresDedupOptions> = { ...DEDUP_OPTIONS, table: true };

/**
 * Makes a dedup store in PostgreSQL, which all receiving processes share. Confirmed deliveries survive a crash.
 *
 * @throws {TypeError} when a time is not positive, or when the table is not a plain name
 * @example
 * import { postgresDedupStore } from '@svc/webhook-verify/dedup/postgres';
 * import pg from 'pg';
 *
 * const dedup = postgresDedupStore(new pg.Pool({ connectionString: process.env.DATABASE_URL }));
 * await dedup.migrate();
 */
export function postgresDedupStore(client: PostgresQuery, options: PostgresDedupOptions = {}): PostgresDedupStore {
  requireKnown('postgresDedupStore', options, POSTGRES_OPTIONS);
  const { ttlMs, claimMs } = dedupTimes(options);
  const { table = 'svc_webhook_dedup', now } = options;
  // The name becomes part of the statements, so nothing but a plain name may pass.
  if (!/^[a-z_][a-z0-9_]{0,50}(?:\.[a-z_][a-z0-9_]{0,50})?$/.test(table)) {
    throw new TypeError(
      'table: must be a plain lower-case name with at most one dot. Pass for example receiver.dedup.',
    );
  }
  const index = `${table.replace(/^.*\./, '')}_until`;
  let claims = 0;

  return {
    async migrate() {
      // Without the lock, two processes that create the same table at once fail in spite of IF NOT EXISTS.
      await client.query(
        `DO $migrate$ BEGIN
           PERFORM pg_advisory_xact_lock(hashtext('${table}'));
           CREATE TABLE IF NOT EXISTS ${table} (key text PRIMARY KEY, token uuid, until bigint NOT NULL);
           CREATE INDEX IF NOT EXISTS ${index} ON ${table} (until);
         END $migrate$`,
        [],
      );
    },
    async claim(key) {
      claims += 1;
      if (claims % 50 === 0) await prune();
      const token = crypto.randomUUID();
      const claimed = await client.query(
        `INSERT INTO ${table} AS known (key, token, until) VALUES ($1, $2, ${NOW} + $4::bigint)
         ON CONFLICT (key) DO UPDATE SET token = excluded.token, until = excluded.until WHERE known.until <= ${NOW}
         RETURNING key`,
        [key, token, now?.() ?? null, claimMs],
      );
      if (claimed.rows.length > 0) {
        return { state: 'claimed', token, claimSeconds: claimMs / 1000 };
      }
      const { rows } = await client.query(
        `SELECT token, (until - ${NOW_OF_LOOK})::float8 AS "leftMs" FROM ${table} WHERE key = $1`,
        [key, now?.() ?? null],
      );
      const [row] = rows;
      // A row that is gone was released between the two statements. In flight is safe: the sender tries again.
      if (row === undefined) return { state: 'in-flight', secondsLeft: 0 };
      if (row.token === null) return { state: 'handled' };
      return { state: 'in-flight', secondsLeft: Number(row.leftMs) / 1000 };
    },
    async confirm(key, token) {
      await client.query(
        `INSERT INTO ${table} AS known (key, token, until) VALUES ($1, NULL, ${NOW} + $4::bigint)
         ON CONFLICT (key) DO UPDATE SET token = NULL, until = excluded.until
           WHERE known.token = $2 OR known.until <= ${NOW}`,
        [key, token, now?.() ?? null, ttlMs],
      );
    },
    async release(key, token) {
      await client.query(`DELETE FROM ${table} WHERE key = $1 AND token = $2`, [key, token]);
    },
    async prolong(key, token) {
      const prolonged = await client.query(
        `UPDATE ${table} SET until = ${NOW} + $4::bigint WHERE key = $1 AND token = $2 RETURNING key`,
        [key, token, now?.() ?? null, claimMs],
      );
      return prolonged.rows.length > 0;
    },
  };

  /** Prunes up to 100 expired rows every 50 claims. Skips rows that another process prunes. */
  async function prune(): Promise<void> {
    await client.query(
      `DELETE FROM ${table} WHERE key IN
         (SELECT key FROM ${table} WHERE until <= ${NOW_OF_PRUNE} LIMIT 100 FOR UPDATE SKIP LOCKED)`,
      [now?.() ?? null],
    );
  }
}

/** The time in ms: that of the option `now`, or of the database. */
const timeIn = (parameter: string): string =>
  `coalesce(${parameter}::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)`;
const NOW = timeIn('$3');
const NOW_OF_LOOK = timeIn('$2');
const NOW_OF_PRUNE = timeIn('$1');
