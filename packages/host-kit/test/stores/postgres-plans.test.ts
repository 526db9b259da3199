import { type PostgresServer, startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CLAIM, DELETE, KEEP, NEXT_DUE, RELEASE } from '../../src/stores/postgres/deliveries.ts';
import { DUE, STEPS } from '../../src/stores/postgres/due-deliveries.ts';
import { LIST_ALL, NEWEST } from '../../src/stores/postgres/events.ts';
import { migrate } from '../../src/stores/postgres/migrate.ts';
import { DELETIONS, ENDED } from '../../src/stores/postgres/run-removal.ts';
import { AWAITED, ORPHANS } from '../../src/stores/postgres/runs.ts';

let postgres: PostgresServer;
let client: pg.Client;
beforeAll(async () => {
  postgres = await startPostgres();
  await migrate({ url: postgres.url, schema: 'svc' });
  client = new pg.Client({ connectionString: postgres.url, options: '-c search_path=svc' });
  await client.connect();
  // One receiver hangs, and all deliveries wait for it: by the statistics, every delivery belongs to its subscription.
  await client.query(`INSERT INTO deliveries (delivery_id, webhook_id, run_id, event_id, sequence, event_type, body, attempts, due_at, state, tenant)
    SELECT 'dlv_' || n, 'whk_hangs', 'run_1', 'evt_' || n, n, 'run.started', 'x', 0, n, 'waiting', 'acme' FROM generate_series(1, 20000) AS n`);
  await client.query(`INSERT INTO events (run_id, sequence, event_id, type, timestamp, payload, schema_version, engine_version)
    SELECT 'run_' || n % 100, n, 'evt_' || n, 'run.started', n, '{}', 1, 1 FROM generate_series(1, 20000) AS n`);
  // Most runs have ended, a few long ago.
  await client.query(`INSERT INTO runs (run_id, tenant, mode, status, last_sequence, completed_at, document, holder, held_until)
    SELECT 'run_' || n, 'acme', 'live', 'completed', 3, n, '{}', '', 0 FROM generate_series(1, 20000) AS n`);
  for (const [table, key] of Object.entries({
    interrupts: 'interrupt_id',
    artifacts: 'artifact_id',
    annotations: 'annotation_id',
  }))
    await client.query(
      table === 'interrupts'
        ? `INSERT INTO interrupts (run_id, interrupt_id, node_id, key, document, status, votes)
            SELECT 'run_' || n, 'int', 'n', 'k', '{}', 'closed', '[]' FROM generate_series(1, 20000) AS n`
        : `INSERT INTO ${table} (run_id, ${key}, document) SELECT 'run_' || n, 'id', '{}' FROM generate_series(1, 20000) AS n`,
    );
  await client.query('ANALYZE');
});
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
  expect(plan).toMatch(
    /deliveries_turns[\s\S]*Index Cond: \(\(tenant = s\.tenant\) AND \(webhook_id = s\.webhook_id\) AND \(due_at <= \$3\)\)/,
  );
  expect(plan).toMatch(/Index Scan using deliveries_pkey|Bitmap Index Scan on deliveries_pkey/);
  expect(plan).not.toMatch(/Seq Scan on deliveries|deliveries_next_due/);
});

test.each([DELETE, KEEP, RELEASE])('claims with the same end are found by their ids: $name', async (statement) => {
  const plan = await planOf(statement);
  expect(plan).toMatch(/deliveries_delivery_id_key[\s\S]*Index Cond: \(delivery_id = [^\n]*c\.delivery_id/);
  expect(plan).not.toMatch(/Seq Scan on deliveries|deliveries_claimed/);
});

test('the tenants and subscriptions with due deliveries are found without walking through a backlog', async () => {
  const due = await planOf(DUE);
  expect(due).toMatch(/Index Cond: \(tenant > ring(_\d)?\.tenant\)/);
  expect(due).toMatch(
    /using deliveries_due_of[\s\S]*Index Cond: \(\(tenant = ring(_\d)?\.tenant\) AND \(due_at <= \$3\)\)/,
  );
  const steps = await planOf(STEPS);
  expect(steps).toMatch(/Index Cond: \(\(tenant = t\.tenant\) AND \(webhook_id > steps(_\d)?\.webhook_id\)\)/);
  for (const plan of [due, steps]) {
    expect(plan).not.toMatch(/Seq Scan on deliveries|deliveries_next_due/);
    // A sort of what a LIMIT has left is bounded. No step of the recursion sorts.
    expect(plan).not.toMatch(/Sort[^\n]*\n[^\n]*Sort Key: d_?\d?\.(tenant|webhook_id)/);
  }
});

test('the next due time is read from the end of an index', async () => {
  const plan = await planOf(NEXT_DUE);
  expect(plan).toMatch(/using deliveries_next_due/);
  expect(plan).not.toMatch(/Seq Scan on deliveries/);
});

test('a page of the events of all runs is read from its position in an index', async () => {
  const plan = await planOf(LIST_ALL);
  expect(plan).toMatch(/using events_by_position on events[\s\S]*Index Cond: \(\(ROW\(commit_order, commit_index\) > /);
  expect(plan).not.toMatch(/Seq Scan on events\b/);
});

test('the newest position is read from the end of an index', async () => {
  const plan = await planOf(NEWEST);
  expect(plan).toMatch(/Index (?:Only )?Scan Backward using events_by_position/);
  expect(plan).not.toMatch(/Seq Scan on events\b/);
});

test.each([
  ['whose parent has ended', ORPHANS],
  ['for which their parent waits', AWAITED],
])('the children %s are read from indexes', async (_name, listed) => {
  for (const statement of [listed.all, listed.of]) {
    expect(await planOf(statement)).not.toMatch(/Seq Scan on runs\b/);
  }
});

test('the runs that ended first are read from an index, and so are the forks that read them', async () => {
  const plan = await planOf(ENDED);
  expect(plan).toMatch(/Index Scan using runs_ended on runs[\s\S]*Index Cond: \(completed_at < \$1\)/);
  expect(plan).toMatch(/using runs_forking/);
  expect(plan).not.toMatch(/Seq Scan on runs\b|Sort Key: runs\.completed_at/);
});

test('the records of removed runs are found by the ids of their runs', async () => {
  for (const deletion of DELETIONS) {
    const plan = await planOf(deletion);
    const table = /DELETE FROM (\w+)/.exec(deletion.text)?.[1] ?? '';
    // An empty table is read as a whole.
    if (table === 'effect_uses') continue;
    expect(plan, table).toMatch(/Index [\w ]*Scan (?:using|on) \w+[\s\S]*Index Cond: \(run_id = removed\.id\)/);
    expect(plan, table).not.toMatch(new RegExp(`Seq Scan on ${table}\\b`));
  }
});
