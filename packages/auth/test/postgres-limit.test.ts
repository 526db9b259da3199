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
});
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
      restMs: 0,
      onFailure: (cause) => failures.push(cause),
    });
    await own.end();
    const decisions = [await limiter.consume('k'), await limiter.consume('k'), await limiter.consume('k')];
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, false]);
    expect(await limiter.peek('k')).toMatchObject({ allowed: false });
    expect(failures).toHaveLength(4);
  });

  test('asks the database no more for a key that is used up', async () => {
    let statements = 0;
    const counting = {
      query: (text: string, values: unknown[]) => {
        statements += 1;
        return pool.query(text, values);
      },
    };
    const options = { pool: counting, limit: 3, windowSeconds: 3600, now, timeoutMs: 60_000, table: 'limits_of_one' };
    const limiter = await postgresRateLimiter(options);
    for (let turn = 0; turn < 4; turn++) await limiter.consume('k');
    statements = 0;
    for (let turn = 0; turn < 50; turn++) expect(await limiter.consume('k')).toMatchObject({ allowed: false });
    expect(await limiter.peek('k')).toMatchObject({ allowed: false, error: { details: { limit: 3, current: 3 } } });
    expect(statements).toBe(0);
    // A batch is under way when the second of these arrives, and the others share the next one.
    await Promise.all(Array.from({ length: 100 }, (_, turn) => limiter.consume(`key ${turn % 20}`)));
    expect(statements).toBeLessThan(10);
  });

  test('begins a new window when the last one has ended by the clock of the database', async () => {
    const table = 'limits_of_windows';
    const options = { pool, limit: 2, windowSeconds: 3600, timeoutMs: 60_000, table };
    const [one, other] = [await postgresRateLimiter(options), await postgresRateLimiter(options)];
    for (let turn = 0; turn < 2; turn++) await one.consume('k');
    expect(await one.consume('k')).toMatchObject({ allowed: false });
    await pool.query(`UPDATE ${table} SET expire = 1`);
    expect(await other.consume('k')).toMatchObject({ allowed: true, remaining: 1 });
    await pool.query(`UPDATE ${table} SET expire = 1`);
    for (let turn = 0; turn < 60; turn++) await other.consume(`another ${turn}`);
    const ended = async () =>
      (await pool.query(`SELECT count(*)::int AS count FROM ${table} WHERE expire = 1`)).rows[0].count;
    // Removed beside the requests.
    for (let turn = 0; turn < 200 && (await ended()) > 0; turn++) await pool.query('SELECT pg_sleep(0.05)');
    expect(await ended()).toBe(0);
  });

  test('counts keys of any text, each apart', async () => {
    const limiter = await postgresRateLimiter({ pool, limit: 1, windowSeconds: 3600, now, timeoutMs: 60_000 });
    const texts = [
      '',
      '\0',
      'k\0',
      '☃',
      '\ud800',
      'x'.repeat(300),
      'x'.repeat(301),
      "'; DROP TABLE svc_rate_limits; --",
    ];
    const keys = texts.map((text) => `text ${text}`);
    for (const key of keys) expect(await limiter.consume(key)).toMatchObject({ allowed: true });
    for (const key of keys) expect(await limiter.consume(key)).toMatchObject({ allowed: false });
  });

  test('counts on with the table of an earlier version', async () => {
    await pool.query(
      'CREATE TABLE limits_before (key varchar(255) PRIMARY KEY, points integer NOT NULL DEFAULT 0, expire bigint)',
    );
    await pool.query("INSERT INTO limits_before VALUES ('k', 2, (extract(epoch FROM now()) * 1000)::bigint + 3600000)");
    const options = { pool, limit: 3, windowSeconds: 3600, now, timeoutMs: 60_000, table: 'limits_before' };
    const limiter = await postgresRateLimiter(options);
    expect(await limiter.consume('k')).toMatchObject({ allowed: true, remaining: 0 });
    expect(await limiter.consume('k')).toMatchObject({ allowed: false });
  });

  test('one request at a time waits for a database that is silent, and the others do not', async () => {
    const clock = { now: 0 };
    let asked = 0;
    let isSilent = false;
    const silent = {
      query: (text: string, values: unknown[]) => {
        asked += 1;
        return isSilent ? new Promise<never>(() => {}) : pool.query(text, values);
      },
    };
    const failures: unknown[] = [];
    const limiter = await postgresRateLimiter({
      pool: silent,
      limit: 1000,
      windowSeconds: 3600,
      now: () => clock.now,
      timeoutMs: 1500,
      table: 'limits_of_silence',
      onFailure: (cause) => failures.push(cause),
    });
    expect(await limiter.consume('k')).toMatchObject({ remaining: 999 });
    isSilent = true;
    // The first requests share one wait and one error.
    const first = await Promise.all(Array.from({ length: 10 }, () => limiter.consume('k')));
    expect(first.map(({ allowed }) => allowed)).toEqual(Array.from({ length: 10 }, () => true));
    expect(failures).toHaveLength(1);
    asked = 0;
    for (let turn = 0; turn < 100; turn++) await limiter.consume('k');
    expect(asked, 'the database rests').toBe(0);
    clock.now += 2000;
    isSilent = false;
    expect(await limiter.consume('k')).toMatchObject({ remaining: 998 });
    expect(failures).toHaveLength(1);
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
