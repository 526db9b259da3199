import { type DedupOptions, type DedupStore, dedupTimes } from './dedup.ts';

/** What is needed of a PostgreSQL client: a `Pool` of `pg` fits, and so do others that take `$1`. */
export interface PostgresQuery {
  query(text: string, values: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

export interface PostgresDedupOptions extends DedupOptions {
  /** The table to use, with its schema if it needs one. Default `svc_webhook_dedup`. */
  readonly table?: string;
}

export interface PostgresDedupStore extends DedupStore {
  /** Makes the table unless it is there. Several processes may do so at once. */
  migrate(): Promise<void>;
}

/**
 * Deduplication in PostgreSQL, shared by every process that receives. What was confirmed survives a crash.
 *
 * @throws {TypeError} for a time that is not positive, or a table that is not a plain name
 * @example
 * const dedup = postgresDedupStore(new pg.Pool({ connectionString }));
 * await dedup.migrate();
 */
export function postgresDedupStore(client: PostgresQuery, options: PostgresDedupOptions = {}): PostgresDedupStore {
  const { ttlMs, claimMs, now } = dedupTimes(options);
  const { table = 'svc_webhook_dedup' } = options;
  // It becomes part of a statement.
  if (!/^[a-z_][a-z0-9_]{0,50}(?:\.[a-z_][a-z0-9_]{0,50})?$/.test(table)) {
    throw new TypeError(
      'table: must be a plain lower-case name with at most one dot. Pass for example receiver.dedup.',
    );
  }
  const index = `${table.replace(/^.*\./, '')}_until`;
  let claims = 0;

  return {
    async migrate() {
      // Two processes that create the same table at once fail without the lock, in spite of IF NOT EXISTS.
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
        `INSERT INTO ${table} AS known (key, token, until) VALUES ($1, $2, $3)
         ON CONFLICT (key) DO UPDATE SET token = excluded.token, until = excluded.until WHERE known.until <= $4
         RETURNING key`,
        [key, token, now() + claimMs, now()],
      );
      if (claimed.rows.length > 0) return { state: 'claimed', token };
      const { rows } = await client.query(`SELECT token FROM ${table} WHERE key = $1`, [key]);
      // Released between the two statements: as good as in flight, the sender comes again.
      return { state: rows[0]?.token === null ? 'handled' : 'in-flight' };
    },
    async confirm(key, token) {
      await client.query(
        `INSERT INTO ${table} AS known (key, token, until) VALUES ($1, NULL, $2)
         ON CONFLICT (key) DO UPDATE SET token = NULL, until = excluded.until WHERE known.token = $3 OR known.until <= $4`,
        [key, now() + ttlMs, token, now()],
      );
    },
    async release(key, token) {
      await client.query(`DELETE FROM ${table} WHERE key = $1 AND token = $2`, [key, token]);
    },
  };

  /** More is forgotten than is remembered, in steps that nobody notices; rows that another process prunes are left to it. */
  async function prune(): Promise<void> {
    await client.query(
      `DELETE FROM ${table} WHERE key IN
         (SELECT key FROM ${table} WHERE until <= $1 LIMIT 100 FOR UPDATE SKIP LOCKED)`,
      [now()],
    );
  }
}
