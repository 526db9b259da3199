import { flexibleRateLimiter, memoryRateLimiter } from '@svc/auth/rate-limit';
import { postgresRateLimiter } from '@svc/auth/rate-limit/postgres';
import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let postgres: Awaited<ReturnType<typeof startPostgres>>;
let pool: pg.Pool;

beforeAll(async () => {
  postgres = await startPostgres();
  pool = new pg.Pool({ connectionString: postgres.url });
  pool.on('error', () => {});
}, 60_000);
afterAll(async () => {
  await pool.end();
  await postgres.stop();
});

/** The clock of the limits in memory stands still. The windows in PostgreSQL are an hour: no test is that slow. */
const now = () => Date.UTC(2026, 5, 1);

describe(`${covers('auth.rate-limit.per-key')}, over hosts that share a PostgreSQL`, () => {
  test('counts the requests of two hosts together', async () => {
    const options = { pool, limit: 5, windowSeconds: 3600, now, timeoutMs: 60_000 };
    const [one, other] = [await postgresRateLimiter(options), await postgresRateLimiter(options)];
    const decisions = [];
    for (let turn = 0; turn < 4; turn++) decisions.push(await one.consume('key_1'), await other.consume('key_1'));
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, true, true, false, false, false]);
    expect(decisions[0]).toMatchObject({ limit: 5, remaining: 4, windowSeconds: 3600 });
    expect(decisions[5]).toMatchObject({ error: { code: 'rate_limited', details: { limit: 5, window: 3600 } } });
    expect(await other.peek('key_1')).toMatchObject({ allowed: false });
    expect(await other.consume('key_2')).toMatchObject({ allowed: true, remaining: 4 });
    expect(await other.peek('key_3')).toMatchObject({ allowed: true, remaining: 5 });
  });

  test('counts concurrent requests one by one', async () => {
    const limiter = await postgresRateLimiter({ pool, limit: 10, windowSeconds: 3600, now, timeoutMs: 60_000 });
    const decisions = await Promise.all(Array.from({ length: 30 }, () => limiter.consume('key_at_once')));
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(10);
  });

  test('limits in each host while the database is gone, and calls onFailure', async () => {
    const failures: unknown[] = [];
    const own = new pg.Pool({ connectionString: postgres.url });
    const limiter = await postgresRateLimiter({
      pool: own,
      limit: 2,
      windowSeconds: 3600,
      now,
      onFailure: (cause) => failures.push(cause),
    });
    await own.end();
    const decisions = [await limiter.consume('k'), await limiter.consume('k'), await limiter.consume('k')];
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, false]);
    expect(await limiter.peek('k')).toMatchObject({ allowed: false });
    expect(failures).toHaveLength(4);
  });

  test('rejects a table name with other characters', async () => {
    const options = { pool, limit: 1, windowSeconds: 1, now, table: 'x; DROP TABLE runs' };
    await expect(postgresRateLimiter(options)).rejects.toThrow(TypeError);
  });
});

describe('flexibleRateLimiter', () => {
  const fallback = memoryRateLimiter({ limit: 1, windowSeconds: 3600, now });

  test('accepts a limiter of the library with any store', async () => {
    const limiter = flexibleRateLimiter(new RateLimiterMemory({ points: 2, duration: 3600 }), {
      limit: 2,
      windowSeconds: 3600,
      fallback,
    });
    const decisions = [await limiter.consume('k'), await limiter.consume('k'), await limiter.consume('k')];
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, false]);
  });

  test('does not wait for a store that never answers', async () => {
    const silent = { consume: () => new Promise<never>(() => {}), get: () => new Promise<never>(() => {}) };
    const limiter = flexibleRateLimiter(silent, { limit: 5, windowSeconds: 3600, fallback, timeoutMs: 10 });
    expect(await limiter.consume('silent')).toMatchObject({ allowed: true });
    expect(await limiter.consume('silent')).toMatchObject({ allowed: false });
  });
});
