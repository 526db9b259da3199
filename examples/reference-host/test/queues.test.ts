import { postgresQueueTable } from '@svc/host-kit/queues/postgres';
import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, KEY, OTHER_TENANT, startAcme } from './acme-host.ts';
import { eventually } from './booted-host.ts';

const own = { tenant: 'acme', workspaces: ['acme-prod'], scopes: ['runs:create', 'runs:read', 'webhooks:manage'] };
const apiKeys = [
  { ...own, id: 'key_1', key: KEY, principal: 'p_1' },
  { ...own, id: 'key_4', key: OTHER_TENANT, tenant: 'umbrella', workspaces: ['*'], principal: 'p_4' },
];
let postgres: Awaited<ReturnType<typeof startPostgres>>;
let database: pg.Client;
let host: AcmeHost;

beforeAll(async () => {
  postgres = await startPostgres();
  database = new pg.Client({ connectionString: postgres.url });
  await database.connect();
  await database.query(postgresQueueTable());
  const shop = { broker: 'postgres', url: postgres.url, grants: [{ tenant: 'acme', queues: ['orders'] }] };
  host = await startAcme({}, { triggers: { queues: { shop } }, apiKeys });
});
afterAll(async () => {
  await host.stop();
  await database.end();
  await postgres.stop();
});

const RULES = {
  ...{ source: 'queue', queue: { connection: 'shop', name: 'orders' } },
  mapping: { workflowId: 'echo', inputs: { order: { pointer: '/body/order' } } },
};

describe(covers('triggers.queue.durable', 'triggers.queue.grants', 'triggers.subscription.discovery'), () => {
  test('a message of a configured queue starts a run of the tenant to which it is granted, and of no other', async () => {
    const { body: document } = await host.call('/.well-known/svc', { major: '2' });
    expect(document.triggerBridge.sources).toContain('queue');
    const refused = await host.call('/trigger-subscriptions', { key: OTHER_TENANT, major: '2', body: RULES });
    expect([refused.status, refused.body.error]).toEqual([403, 'forbidden']);
    const { status, body } = await host.call('/trigger-subscriptions', { major: '2', body: RULES });
    expect([status, body.subscription.source]).toEqual([201, 'queue']);
    await database.query(`INSERT INTO svc_queue (queue, body) VALUES ('orders', '{"order":"order-1"}')`);
    await eventually(async () => {
      const { rows } = await database.query('SELECT count(*)::int AS count FROM svc_queue');
      return rows[0].count === 0;
    });
    const { body: list } = await host.call('/runs', { major: '2' });
    expect(list.runs).toMatchObject([{ workflowId: 'echo' }]);
    const { body: triggers } = await host.call('/host/example/triggers', { major: '2' });
    expect(triggers.triggers).toMatchObject([{ source: 'queue', queue: { connection: 'shop', name: 'orders' } }]);
    expect(JSON.stringify(triggers)).not.toContain('postgres://');
  });
});
