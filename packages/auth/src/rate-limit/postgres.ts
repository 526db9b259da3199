import { RateLimiterPostgres } from 'rate-limiter-flexible';
import { flexibleRateLimiter } from './flexible.ts';
import type { RateLimiter } from './limiter.ts';
import { memoryRateLimiter } from './memory.ts';

export interface PostgresRateLimiterOptions {
  /** Requests a window: a whole number, at least 1. */
  readonly limit: number;
  /** A whole number, at least 1. */
  readonly windowSeconds: number;
  /** A `pg` pool, or anything with its `query`. */
  readonly pool: QueryablePool;
  /** Milliseconds since the epoch, for the limit in this process while the database fails. */
  readonly now: () => number;
  /** Default `svc_rate_limits`; created when it is not there. */
  readonly table?: string;
  /** How long the database may take. Default 250. */
  readonly timeoutMs?: number;
  /** Told of every failure of the database. */
  readonly onFailure?: (cause: unknown) => void;
}

/** The part of a `pg` pool that is needed. */
export interface QueryablePool {
  query(...query: never[]): Promise<unknown>;
}

/**
 * A limit that several hosts share through PostgreSQL. While the database fails or is late each host limits by itself.
 *
 * @returns when the table is there
 * @throws {TypeError} for an option that cannot be right
 * @example
 * const limiter = await postgresRateLimiter({ pool, limit: 600, windowSeconds: 60, now: Date.now });
 */
export async function postgresRateLimiter(options: PostgresRateLimiterOptions): Promise<RateLimiter> {
  const { limit, windowSeconds, pool, now, table = 'svc_rate_limits', timeoutMs, onFailure } = options;
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(table)) {
    throw new TypeError(
      'postgresRateLimiter: table must be 1 to 63 lower-case letters, digits and underscores, with no digit first.',
    );
  }
  const fallback = memoryRateLimiter({ limit, windowSeconds, now });
  const limiter = await new Promise<RateLimiterPostgres>((resolve, reject) => {
    const made: RateLimiterPostgres = new RateLimiterPostgres(
      { storeClient: pool, storeType: 'pool', tableName: table, points: limit, duration: windowSeconds, keyPrefix: '' },
      (error?: Error) => (error === undefined ? resolve(made) : reject(error)),
    );
  });
  return flexibleRateLimiter(limiter, {
    limit,
    windowSeconds,
    fallback,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(onFailure !== undefined && { onFailure }),
  });
}
