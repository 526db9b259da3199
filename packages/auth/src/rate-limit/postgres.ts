import { RateLimiterPostgres } from 'rate-limiter-flexible';
import { type OptionNames, requireKnown } from '../known-options.ts';
import { flexibleRateLimiter } from './flexible.ts';
import type { RateLimiter } from './limiter.ts';
import { memoryRateLimiter } from './memory.ts';

/** Options of `postgresRateLimiter`. */
export interface PostgresRateLimiterOptions {
  /** Requests per window: a whole number, at least 1. */
  readonly limit: number;
  /** Length of the window in seconds: a whole number, at least 1. */
  readonly windowSeconds: number;
  /** A `pg` pool, or an object with its `query`. */
  readonly pool: QueryablePool;
  /** A monotonic clock in milliseconds, for the limit in this process while the database fails. Default `performance.now`. */
  readonly now?: () => number;
  /** Name of the table. It is created when it is missing. Default `svc_rate_limits`. */
  readonly table?: string;
  /** Time limit of the database in milliseconds. Default 250. */
  readonly timeoutMs?: number;
  /** Called with each error of the database. Default: not called. */
  readonly onFailure?: (cause: unknown) => void;
}

const POSTGRES_RATE_LIMITER_OPTIONS: OptionNames<PostgresRateLimiterOptions> = {
  limit: true,
  windowSeconds: true,
  pool: true,
  now: true,
  table: true,
  timeoutMs: true,
  onFailure: true,
};

/** The part of a `pg` pool that is used. */
export interface QueryablePool {
  /** Runs a query. */
  query(...query: never[]): Promise<unknown>;
}

/**
 * Makes a rate limiter that several hosts share through PostgreSQL. While the database fails or is late, each host
 * limits on its own.
 *
 * @returns a promise that resolves when the table exists
 * @throws {TypeError} when an option is invalid
 * @throws the error of the database when the table cannot be created
 * @example
 * const limiter = await postgresRateLimiter({ pool, limit: 600, windowSeconds: 60 });
 */
export async function postgresRateLimiter(options: PostgresRateLimiterOptions): Promise<RateLimiter> {
  requireKnown('postgresRateLimiter', options, POSTGRES_RATE_LIMITER_OPTIONS);
  const { limit, windowSeconds, pool, now, table = 'svc_rate_limits', timeoutMs, onFailure } = options;
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(table)) {
    throw new TypeError(
      'postgresRateLimiter: table must be 1 to 63 lower-case letters, digits and underscores, with no digit first.',
    );
  }
  const fallback = memoryRateLimiter({ limit, windowSeconds, ...(now !== undefined && { now }) });
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
