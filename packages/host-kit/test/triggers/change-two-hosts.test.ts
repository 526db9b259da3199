import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { postgresChanges } from '../../src/changes/postgres/index.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { triggerHost } from './trigger-host.ts';

const postgres = await startPostgres();
const database = new pg.Pool({ connectionString: postgres.url, max: 2 });
// The server is crashed.
database.on('error', () => {});
afterAll(async () => {
  await database.end();
  await postgres.stop();
});

describe(covers('triggers.change.durable'), () => {
  test('two hosts start one run for each row, also when the database goes away', async () => {
    await database.query('CREATE TABLE shared (seq bigserial PRIMARY KEY, "order" text)');
    const open = async () => {
      const source = postgresChanges({ url: postgres.url, table: 'shared', cursor: 'seq', columns: ['order'] });
      const store = await postgresStore({ url: postgres.url, schema: 'changes', connections: 4 });
      return triggerHost({ store, triggers: { changes: { shared: { source, grants: [{ tenant: 'acme' }] } } } });
    };
    const first = await open();
    const hosts = [first, await open()];
    try {
      await first.register({
        ...{ source: 'change', change: { table: 'shared', from: 'beginning' }, webhook: undefined, secret: undefined },
        mapping: { workflowId: 'echo', inputs: { order: { pointer: '/body/order' } } },
      });
      const orders = Array.from({ length: 120 }, (_, n) => `shared-${String(n).padStart(3, '0')}`);
      const add = (some: readonly string[]) =>
        database.query('INSERT INTO shared ("order") SELECT unnest($1::text[])', [some]);
      const started = async () => {
        for (const { clock } of hosts) clock.advance(500);
        const runs = await first.runs().catch(() => []);
        return runs.map(({ inputs }) => inputs.order).sort();
      };
      const wait = { timeout: 120_000, interval: 10 };
      await add(orders.slice(0, 60));
      await expect.poll(async () => (await started()).length, wait).toBeGreaterThan(9);
      await postgres.crash('SIGQUIT');
      await add(orders.slice(60));
      await expect.poll(started, wait).toEqual(orders);
    } finally {
      await Promise.all(hosts.map(({ host }) => host.stop(0)));
    }
  }, 180_000);
});
