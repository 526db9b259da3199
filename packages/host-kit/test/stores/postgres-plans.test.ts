import { type PostgresServer, startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CLAIM, NEXT_DUE } from '../../src/stores/postgres/deliveries.ts';
import { migrate } from '../../src/stores/postgres/migrate.ts';

let postgres: PostgresServer;
let client: pg.Client;
beforeAll(async () => {
  postgres = await startPostgres();
  await migrate(postgres.url, 'svc');
  client = new pg.Client({ connectionString: postgres.url, options: '-c search_path=svc' });
  await client.connect();
  // One receiver hangs, and all deliveries wait for it: by the statistics, every delivery belongs to its subscription.
  await client.query(`INSERT INTO deliveries (delivery_id, webhook_id, run_id, event_id, sequence, event_type, body, attempts, due_at, state)
    SELECT 'dlv_' || n, 'whk_hangs', 'run_1', 'evt_' || n, n, 'run.started', 'x', 0, n, 'waiting' FROM generate_series(1, 20000) AS n`);
  await client.query('ANALYZE');
}, 60_000);
afterAll(async () => {
  await client.end();
  await postgres.stop();
});

async function planOf({ text }: { readonly text: string }): Promise<string> {
  const { rows } = await client.query(`EXPLAIN (GENERIC_PLAN) ${text}`);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

test('a claim reads the due deliveries of a subscription without walking through the backlog of another', async () => {
  const plan = await planOf(CLAIM);
  expect(plan).toMatch(/deliveries_waiting[\s\S]*Index Cond: \(\(webhook_id = s\.webhook_id\) AND \(due_at <= \$3\)\)/);
  expect(plan).toMatch(/Index Scan using deliveries_pkey|Bitmap Index Scan on deliveries_pkey/);
  expect(plan).not.toMatch(/Seq Scan on deliveries|deliveries_next_due/);
});

test('the next due time is read from the end of an index', async () => {
  const plan = await planOf(NEXT_DUE);
  expect(plan).toMatch(/using deliveries_next_due/);
  expect(plan).not.toMatch(/Seq Scan on deliveries/);
});
