import { startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../src/ports/store.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';

const postgres = await startPostgres();
let store: Store;
let client: pg.Client;
beforeAll(async () => {
  store = await postgresStore({ url: postgres.url });
  client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await store.close();
  await postgres.stop();
});

const ageMs = async () => (await store.oldestSnapshotMs?.()) ?? Number.NaN;

test.each([
  ['a transaction with a snapshot', 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class'],
  ['a transaction that has written', 'BEGIN; CREATE TEMPORARY TABLE written (id integer)'],
])('%s is counted from its begin until its end', async (_title, sql) => {
  await client.query(sql);
  const { rows } = await client.query('SELECT extract(epoch FROM clock_timestamp() - now()) * 1000 AS age');
  expect(await ageMs()).toBeGreaterThanOrEqual(Math.floor(Number(rows[0]?.age)));
  const before = await ageMs();
  await client.query('SELECT pg_sleep(0.02)');
  expect(await ageMs()).toBeGreaterThanOrEqual(before + 20);
  const held = await ageMs();
  await client.query('ROLLBACK');
  // The store has short transactions of its own.
  await expect.poll(ageMs, { timeout: 20_000 }).toBeLessThan(held);
});

test('a transaction without a snapshot, which prevents nothing, is not counted', async () => {
  await client.query('BEGIN');
  const { rows } = await client.query('SELECT clock_timestamp() AS begun');
  const begun = [rows[0]?.begun];
  await client.query('SELECT pg_sleep(0.05)');
  const elapsedMs = async () => {
    const elapsed = 'SELECT floor(extract(epoch FROM clock_timestamp() - $1) * 1000) AS ms';
    return Number((await client.query(elapsed, begun)).rows[0]?.ms);
  };
  // The store has short transactions of its own.
  await expect.poll(async () => (await ageMs()) < (await elapsedMs()), { timeout: 20_000 }).toBe(true);
  await client.query('ROLLBACK');
});

test('the tables with rows that come and go are cleaned up early', async () => {
  const { rows } = await client.query(
    `SELECT relname FROM pg_class WHERE relnamespace = 'svc'::regnamespace
       AND 'autovacuum_vacuum_scale_factor=0.01' = ANY (reloptions) ORDER BY relname`,
  );
  expect(rows.map(({ relname }) => relname)).toEqual(['attempts', 'deliveries', 'runs', 'subscriptions']);
});
