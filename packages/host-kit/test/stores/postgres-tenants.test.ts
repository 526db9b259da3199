import { readFileSync } from 'node:fs';
import { type PostgresServer, startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../src/stores/postgres/migrate.ts';

let postgres: PostgresServer;
let client: pg.Client;
beforeAll(async () => {
  postgres = await startPostgres();
  await migrate({ url: postgres.url, schema: 'svc' });
  client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
}, 120_000);
afterAll(async () => {
  await client.end();
  await postgres.stop();
});

const PAGE = new URL('../../../../docs/scale.md', import.meta.url);

/** The tables that the page names in the table below its mark. */
function namedTables(): readonly string[] {
  const [, table = ''] = readFileSync(PAGE, 'utf8').split('<!-- tables without a tenant -->\n\n');
  const rows = table.slice(0, table.indexOf('\n\n')).split('\n').slice(2);
  return rows.flatMap((row) => (row.split('|')[2] ?? '').split(',').map((name) => name.trim()));
}

/** @see docs/scale.md, Stage 3 */
test('docs/scale.md names each table that has no tenant, once', async () => {
  const { rows } = await client.query<{ table_name: string }>(
    `SELECT table_name FROM information_schema.columns WHERE table_schema = 'svc'
      GROUP BY table_name HAVING bool_and(column_name <> 'tenant') ORDER BY table_name COLLATE "C"`,
  );
  const without = rows.map(({ table_name }) => table_name);
  expect(without).toContain('events');
  expect(without).not.toContain('runs');
  expect([...namedTables()].sort()).toEqual(without);
});
