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

const now = Date.now;

describe(`${covers('auth.rate-limit.per-key')}, over hosts that share a PostgreSQL`, () => {
  test('two hosts count as one', async () => {
    const options = { pool, limit: 5, windowSeconds: 60, now, timeoutMs: 5000 };
    const [one, other] = [await postgresRateLimiter(options), await postgresRateLimiter(options)];
    const decisions = [];
    for (let turn = 0; turn < 4; turn++) decisions.push(await one.consume('key_1'), await other.consume('key_1'));
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, true, true, false, false, false]);
    expect(decisions[0]).toMatchObject({ limit: 5, remaining: 4, windowSeconds: 60 });
    expect(decisions[5]).toMatchObject({ error: { code: 'rate_limited', details: { limit: 5, window: 60 } } });
    expect(await other.peek('key_1')).toMatchObject({ allowed: false });
    expect(await other.consume('key_2')).toMatchObject({ allowed: true, remaining: 4 });
    expect(await other.peek('key_3')).toMatchObject({ allowed: true, remaining: 5 });
  });

  test('requests at once are counted one by one', async () => {
    const limiter = await postgresRateLimiter({ pool, limit: 10, windowSeconds: 60, now, timeoutMs: 5000 });
    const decisions = await Promise.all(Array.from({ length: 30 }, () => limiter.consume('key_at_once')));
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(10);
  });

  test('while the database is gone each host limits by itself, and says so', async () => {
    const failures: unknown[] = [];
    const own = new pg.Pool({ connectionString: postgres.url });
    const limiter = await postgresRateLimiter({
      pool: own,
      limit: 2,
      windowSeconds: 60,
      now,
      onFailure: (cause) => failures.push(cause),
    });
    await own.end();
    const decisions = [await limiter.consume('k'), await limiter.consume('k'), await limiter.consume('k')];
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, false]);
    expect(await limiter.peek('k')).toMatchObject({ allowed: false });
    expect(failures).toHaveLength(4);
  });

  test('a table must have a plain name', async () => {
    const options = { pool, limit: 1, windowSeconds: 1, now, table: 'x; DROP TABLE runs' };
    await expect(postgresRateLimiter(options)).rejects.toThrow(TypeError);
  });
});

describe('flexibleRateLimiter', () => {
  const fallback = memoryRateLimiter({ limit: 1, windowSeconds: 60, now });

  test('takes a limiter of the library with any store', async () => {
    const limiter = flexibleRateLimiter(new RateLimiterMemory({ points: 2, duration: 60 }), {
      limit: 2,
      windowSeconds: 60,
      fallback,
    });
    const decisions = [await limiter.consume('k'), await limiter.consume('k'), await limiter.consume('k')];
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, false]);
  });

  test('does not wait for a store that never answers', async () => {
    const silent = { consume: () => new Promise<never>(() => {}), get: () => new Promise<never>(() => {}) };
    const limiter = flexibleRateLimiter(silent, { limit: 5, windowSeconds: 60, fallback, timeoutMs: 10 });
    expect(await limiter.consume('silent')).toMatchObject({ allowed: true });
    expect(await limiter.consume('silent')).toMatchObject({ allowed: false });
  });
});
