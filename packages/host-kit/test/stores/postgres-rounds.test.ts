import { startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ClaimRequest } from '../../src/ports/deliveries.ts';
import type { Store } from '../../src/ports/store.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { sampleSubscription } from '../../src/testing/store-contract/samples.ts';

const postgres = await startPostgres();
let store: Store;
let client: pg.Client;
beforeAll(async () => {
  client = new pg.Client({ connectionString: postgres.url, options: '-c search_path=svc' });
  await client.connect();
});
beforeEach(async () => {
  await client.query('DROP SCHEMA IF EXISTS svc CASCADE');
  store = await postgresStore({ url: postgres.url, schema: 'svc', connections: 2 });
  return () => store.close();
});
afterAll(async () => {
  await client.end();
  await postgres.stop();
});

const NOW = 1_000_000;
const LATER = 2 * NOW;

/** Writes deliveries of `tenants` tenants. Without an active subscription none of them can be claimed. */
async function write(tenants: number, { each = 1, dueAt }: { readonly each?: number; readonly dueAt: number }) {
  await client.query(
    `INSERT INTO deliveries (delivery_id, webhook_id, run_id, event_id, sequence, event_type, body, attempts, due_at, state, tenant)
     SELECT 'dlv_' || t || '_' || n || '_' || $3, 'whk_' || t || '_' || n, 'run_1', 'evt_1', 1, 'run.started', 'x', 0, $3::bigint, 'waiting', 't' || t
     FROM generate_series(1, $1::integer) AS t CROSS JOIN generate_series(1, $2::integer) AS n`,
    [tenants, each, dueAt],
  );
}

const room: ClaimRequest['room'] = { hasRoomFor: () => true, capacityOf: () => 4, take: () => {} };
const claim = (now: number) => store.deliveries.claim({ now, leaseUntil: now + 1000, limit: 128, room });

/** Claims as often as the store asks for it, and returns the waits in ms. */
async function waits(count: number, from: number): Promise<readonly number[]> {
  const found: number[] = [];
  let now = from;
  for (let index = 0; index < count; index += 1) {
    expect(await claim(now)).toEqual([]);
    const next = (await store.deliveries.nextDueAfter(now)) ?? Number.POSITIVE_INFINITY;
    found.push(next - now);
    now = next;
  }
  return found;
}

test('a delivery that is due and cannot be claimed makes no host look all the time, however many tenants wait', async () => {
  await write(600, { dueAt: LATER });
  await write(1, { dueAt: NOW });
  expect(await waits(5, NOW)).toEqual([50, 50, 1000, 1000, 1000]);
  // A claim at another time begins the round anew.
  expect(await waits(4, NOW + 2500)).toEqual([50, 50, 1000, 1000]);
});

test('a tenant with many subscriptions that cannot be claimed makes no host look all the time', async () => {
  await write(1, { each: 700, dueAt: NOW });
  expect(await waits(5, NOW)).toEqual([50, 50, 1000, 1000, 1000]);
});

test('without a due delivery the next look is at the next due time', async () => {
  await write(600, { dueAt: LATER });
  expect(await waits(1, NOW)).toEqual([LATER - NOW]);
});

test('a delivery that becomes due while the looks are slow is found in one fast round', async () => {
  await write(600, { dueAt: LATER });
  await write(1, { dueAt: NOW });
  await waits(4, NOW);
  const [tenant, webhookId] = ['t999', 'whk_999_1'];
  await store.transaction((transaction) =>
    store.subscriptions.insert({ ...sampleSubscription({ webhookId }), tenant }, transaction),
  );
  await client.query(`UPDATE deliveries SET tenant = $1, webhook_id = $2, due_at = $3 WHERE tenant = 't599'`, [
    tenant,
    webhookId,
    NOW,
  ]);
  const from = NOW + 2500;
  let now = from;
  let claimed = await claim(now);
  while (claimed.length === 0 && now < from + 10_000) {
    now = (await store.deliveries.nextDueAfter(now)) ?? Number.POSITIVE_INFINITY;
    claimed = await claim(now);
  }
  expect(claimed.map((delivery) => delivery.webhookId)).toEqual([webhookId]);
  expect(now - from).toBeLessThanOrEqual(150);
});

/** Writes a claim that another host holds. */
async function claimElsewhere(deliveryId: string, leaseUntil: number) {
  await client.query(
    `INSERT INTO deliveries (delivery_id, webhook_id, run_id, event_id, sequence, event_type, body, attempts, due_at, state, tenant)
     VALUES ($1, 'whk_1', 'run_1', 'evt_1', 1, 'run.started', 'x', 0, $2, 'claimed', 'acme')`,
    [deliveryId, leaseUntil],
  );
}

test('claims of other hosts are taken over when they end, and within 30 s also where their time lies far back', async () => {
  await store.transaction((transaction) => store.subscriptions.insert(sampleSubscription({}), transaction));
  const ids = async (now: number) => (await claim(now)).map(({ deliveryId }) => deliveryId);
  await claimElsewhere('old', 5);
  await claimElsewhere('ends', NOW + 10);
  expect(await ids(NOW)).toEqual(['old']);
  expect(await store.deliveries.nextDueAfter(NOW)).toBe(NOW + 10);
  await claimElsewhere('late', NOW - 4000);
  await claimElsewhere('far back', 5);
  expect(await ids(NOW + 10)).toEqual(['ends', 'late']);
  expect(await ids(NOW + 29_000)).not.toContain('far back');
  expect(await ids(NOW + 30_000)).toContain('far back');
});

test('a clock that is set back lets no claim of another host be overlooked', async () => {
  await store.transaction((transaction) => store.subscriptions.insert(sampleSubscription({}), transaction));
  await claim(LATER);
  await store.deliveries.nextDueAfter(LATER);
  await claimElsewhere('ends', NOW + 10);
  expect(await store.deliveries.nextDueAfter(NOW)).toBe(NOW + 10);
  expect((await claim(NOW + 10)).map(({ deliveryId }) => deliveryId)).toEqual(['ends']);
});

test('ended claims that a snapshot keeps are not looked at again with each claim', async () => {
  const holder = new pg.Client({ connectionString: postgres.url });
  await holder.connect();
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class');
  const looks = async () => {
    await client.query('SELECT pg_stat_clear_snapshot()');
    const { rows } = await client.query(
      `SELECT idx_tup_read::int AS read FROM pg_stat_user_indexes WHERE schemaname = 'svc' AND indexrelname = 'deliveries_claimed'`,
    );
    return rows[0]?.read;
  };
  await client.query(
    `INSERT INTO deliveries (delivery_id, webhook_id, run_id, event_id, sequence, event_type, body, attempts, due_at, state, tenant)
     SELECT 'dlv_' || n, 'whk_1', 'run_1', 'evt_1', 1, 'run.started', 'x', 0, $1::bigint + n, 'claimed', 'acme'
     FROM generate_series(-20000, 20000) AS n WHERE n NOT BETWEEN -6000 AND 1`,
    [NOW],
  );
  await client.query('DELETE FROM deliveries');
  // The first look is at all of them.
  await claim(NOW);
  await store.deliveries.nextDueAfter(NOW);
  await expect.poll(looks, { timeout: 20_000 }).toBeGreaterThan(30_000);
  const before = await looks();
  for (let now = NOW + 1; now < NOW + 20; now += 1) {
    await claim(now);
    await store.deliveries.nextDueAfter(now);
  }
  await store.close();
  expect((await looks()) - before).toBeLessThan(2000);
  await holder.end();
  store = await postgresStore({ url: postgres.url, schema: 'svc', connections: 2 });
});
