import { gathered } from '../gathered.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import type { PostgresQuery } from '../postgres-query.ts';
import { requireTable } from '../table-name.ts';
import { REPLAY_STORE_OPTIONS, ReplayCapacity } from './capacity.ts';
import { checkedClaim, type ProofClaim } from './proof-claim.ts';
import type { ReplayAnswer, ReplayStore, ReplayStoreOptions } from './replay-store.ts';

export type { PostgresQuery } from '../postgres-query.ts';
export type { ReplayAnswer, ReplayStore, ReplayStoreFull, ReplayStoreOptions } from './replay-store.ts';

/** Options of `postgresReplayStore`. */
export interface PostgresReplayStoreOptions extends ReplayStoreOptions {
  /** The table, with an optional schema: lower case, at most one dot. Default `svc_dpop_proofs`. */
  readonly table?: string;
  /** Time limit of a statement in milliseconds. Default 2000. Claims reject after it. */
  readonly timeoutMs?: number;
}

const POSTGRES_OPTIONS: OptionNames<PostgresReplayStoreOptions> = {
  ...REPLAY_STORE_OPTIONS,
  table: true,
  timeoutMs: true,
};

/** A replay store in PostgreSQL. */
export interface PostgresReplayStore extends ReplayStore {
  /** Creates the table and its index unless they exist. Several hosts may call it at once. */
  migrate(): Promise<void>;
}

/**
 * Makes a replay store in PostgreSQL, which several hosts share: each proof is accepted by one of them. A claim is durable
 * when it is answered. Claims that arrive while a statement is under way share the next one. Expired proofs are removed
 * in small steps, as new ones are claimed. The clocks of the hosts may differ by up to 15 s.
 *
 * @throws {TypeError} when a clock is not a function, `maxEntries` is not a whole number of at least 1, or the table is
 *   not a plain name
 * @example
 * import { postgresReplayStore } from '@svc/auth/dpop/postgres';
 * import pg from 'pg';
 *
 * const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 2 });
 * const replays = postgresReplayStore(pool);
 * await replays.migrate();
 */
export function postgresReplayStore(
  client: PostgresQuery,
  options: PostgresReplayStoreOptions = {},
): PostgresReplayStore {
  requireKnown('postgresReplayStore', options, POSTGRES_OPTIONS);
  const { table = 'svc_dpop_proofs', timeoutMs = 2000, maxEntries = 1_000_000 } = options;
  const capacity = new ReplayCapacity('postgresReplayStore', options, maxEntries);
  const { create, insert, find, prune: pruning } = statementsFor(requireTable('postgresReplayStore', table));
  let isPruning = false;
  let unpruned = 0;
  const claim = gathered(claimAll, { what: 'The replay store', timeoutMs, most: MOST });

  return {
    async migrate() {
      await client.query(create, []);
    },
    claim: async (id, expiresAt) => claim(checkedClaim(id, expiresAt)),
  };

  async function claimAll(claims: readonly ProofClaim[]): Promise<readonly ReplayAnswer[]> {
    const horizon = capacity.horizon();
    const first = new Map<string, ProofClaim>();
    for (const claim of claims) if (!first.has(claim.id)) first.set(claim.id, claim);
    const distinct = [...first.values()];
    const room = capacity.room(horizon);
    const fresh = await inserted(distinct.slice(0, room), horizon);
    const full = await missing(distinct.slice(room), horizon);
    for (const { id, expiresAt } of distinct) if (fresh.has(id)) capacity.add(expiresAt);
    if (full.size > 0) capacity.tellFull();
    unpruned += claims.length;
    void prune(horizon);
    return claims.map((claim) => {
      if (full.has(claim.id)) return 'full';
      return fresh.has(claim.id) && first.get(claim.id) === claim ? 'fresh' : 'seen';
    });
  }

  async function inserted(claims: readonly ProofClaim[], horizon: number): Promise<ReadonlySet<unknown>> {
    if (claims.length === 0) return new Set();
    // Two hosts that insert the same proofs in another order would wait for each other.
    const sorted = claims.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    const { rows } = await client.query(insert, [
      sorted.map(({ id }) => id),
      sorted.map(({ expiresAt }) => expiresAt),
      Math.floor(horizon),
    ]);
    return new Set(rows.map(({ id }) => id));
  }

  /** Returns the ids that are not recorded. */
  async function missing(claims: readonly ProofClaim[], horizon: number): Promise<ReadonlySet<unknown>> {
    if (claims.length === 0) return new Set();
    const ids = claims.map(({ id }) => id);
    const { rows } = await client.query(find, [ids, Math.floor(horizon)]);
    const known = new Set(rows.map(({ id }) => id));
    return new Set(ids.filter((id) => !known.has(id)));
  }

  /** Changes no answer, so no claim waits for it, and a failure waits for the next time. */
  async function prune(horizon: number): Promise<void> {
    if (isPruning) return;
    isPruning = true;
    const most = 2 * unpruned + 10;
    unpruned = 0;
    try {
      await client.query(pruning, [Math.floor(horizon), most]);
    } catch {
      unpruned = Math.min(unpruned + most, MOST);
    }
    isPruning = false;
  }
}

const MOST = 500;

function statementsFor(table: string) {
  const index = `${table.replace(/^.*\./, '')}_expiry`;
  return {
    // Without the lock, two hosts that create the same table at once fail in spite of IF NOT EXISTS.
    create: `DO $migrate$ BEGIN
        PERFORM pg_advisory_xact_lock(hashtext('${table}'));
        CREATE TABLE IF NOT EXISTS ${table} (id bytea PRIMARY KEY, expires_at bigint NOT NULL);
        CREATE INDEX IF NOT EXISTS ${index} ON ${table} (expires_at);
      END $migrate$`,
    insert: `INSERT INTO ${table} AS known (id, expires_at)
      SELECT decode(claimed.id, 'hex'), claimed.expires_at FROM unnest($1::text[], $2::bigint[]) AS claimed (id, expires_at)
      ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at WHERE known.expires_at < $3::bigint
      RETURNING encode(id, 'hex') AS id`,
    find: `SELECT encode(id, 'hex') AS id FROM ${table}
      WHERE id IN (SELECT decode(asked, 'hex') FROM unnest($1::text[]) AS asked) AND expires_at >= $2::bigint`,
    /** Skips rows that another host removes. */
    prune: `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE expires_at < $1::bigint
      ORDER BY expires_at LIMIT $2::int FOR UPDATE SKIP LOCKED)`,
  };
}
