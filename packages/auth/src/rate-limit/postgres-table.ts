import type { PostgresQuery } from '../postgres-query.ts';

/** Requests of one key that are counted together. */
export interface Counted {
  readonly key: string;
  readonly count: number;
}

/** The state of a key. */
export interface KeyState {
  /** Requests in this window, those above the limit included. */
  readonly points: number;
  /** Milliseconds until the window ends. */
  readonly msLeft: number;
}

/** The table that counts requests, by the clock of the database. */
export class RateLimitTable {
  readonly #client: PostgresQuery;
  readonly #windowMs: number;
  readonly #statements: ReturnType<typeof statementsFor>;

  constructor(client: PostgresQuery, table: string, windowMs: number) {
    this.#client = client;
    this.#windowMs = windowMs;
    this.#statements = statementsFor(table);
  }

  /** Creates the table unless it exists. Several hosts may call it at once. */
  async create(): Promise<void> {
    await this.#client.query(this.#statements.create, []);
  }

  /** Counts requests of distinct keys, and returns their states. */
  async count(counted: readonly Counted[]): Promise<ReadonlyMap<string, KeyState>> {
    // Two hosts that lock the same rows in another order would wait for each other.
    const sorted = counted.toSorted((one, other) => (one.key < other.key ? -1 : 1));
    const values = [sorted.map(({ key }) => key), sorted.map(({ count }) => count), this.#windowMs];
    return statesOf(await this.#client.query(this.#statements.count, values));
  }

  /** Returns the states of the keys that have one. */
  async read(keys: readonly string[]): Promise<ReadonlyMap<string, KeyState>> {
    return statesOf(await this.#client.query(this.#statements.read, [[...keys]]));
  }

  /** Removes up to `most` keys whose window has ended. */
  async prune(most: number): Promise<void> {
    await this.#client.query(this.#statements.prune, [most]);
  }
}

function statesOf({ rows }: { readonly rows: readonly Record<string, unknown>[] }): ReadonlyMap<string, KeyState> {
  return new Map(
    rows.map(({ key, points, ms_left: msLeft }) => [String(key), { points: Number(points), msLeft: Number(msLeft) }]),
  );
}

/** Counts no further, so that the column does not overflow. */
const MOST_POINTS = 1_000_000_000;
const NOW = '(extract(epoch FROM statement_timestamp()) * 1000)::bigint';

function statementsFor(table: string) {
  const index = `${table.replace(/^.*\./, '')}_expire`;
  return {
    // Unlogged: counts may be lost with the database, and cost no wait for its disk. Without the lock, two hosts that
    // create the same table at once fail in spite of IF NOT EXISTS.
    create: `DO $migrate$ BEGIN
        PERFORM pg_advisory_xact_lock(hashtext('${table}'));
        CREATE UNLOGGED TABLE IF NOT EXISTS ${table} (key varchar(255) PRIMARY KEY, points integer NOT NULL DEFAULT 0, expire bigint);
        CREATE INDEX IF NOT EXISTS ${index} ON ${table} (expire);
      END $migrate$`,
    count: `INSERT INTO ${table} AS known (key, points, expire)
      SELECT asked.key, asked.points, ${NOW} + $3::bigint FROM unnest($1::text[], $2::int[]) AS asked (key, points)
      ON CONFLICT (key) DO UPDATE SET
        points = CASE WHEN known.expire > ${NOW} THEN least(known.points + excluded.points, ${MOST_POINTS}) ELSE excluded.points END,
        expire = CASE WHEN known.expire > ${NOW} THEN known.expire ELSE excluded.expire END
      RETURNING key, points, expire - ${NOW} AS ms_left`,
    read: `SELECT key, points, expire - ${NOW} AS ms_left FROM ${table} WHERE key = ANY($1::text[]) AND expire > ${NOW}`,
    /** Skips rows that another host counts or removes. */
    prune: `DELETE FROM ${table} WHERE key IN
      (SELECT key FROM ${table} WHERE expire <= ${NOW} ORDER BY expire LIMIT $1::int FOR UPDATE SKIP LOCKED)`,
  };
}
