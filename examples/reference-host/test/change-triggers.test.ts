import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, startAcme } from './acme-host.ts';
import { eventually } from './booted-host.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-changes-'));
const file = join(folder, 'shop.db');
const database = new DatabaseSync(file);
let host: AcmeHost;

beforeAll(async () => {
  database.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, "the note" TEXT)');
  const table = { database: 'sqlite', file, table: 'orders', cursor: 'id', columns: ['id', 'the note'], settleMs: 0 };
  const orders = { ...table, pollMs: 50, grants: [{ tenant: 'acme' }] };
  const theirs = { ...orders, grants: [{ tenant: 'umbrella' }] };
  host = await startAcme({}, { triggers: { maxBodyBytes: 1024, changes: { orders, theirs } } });
});
afterAll(async () => {
  await host.stop();
  database.close();
  rmSync(folder, { recursive: true, force: true });
});

const RULES = {
  ...{ source: 'change', change: { table: 'orders', from: 'beginning' } },
  mapping: { workflowId: 'echo', inputs: { order: { pointer: '/body/id' } } },
};

describe(covers('triggers.change.durable', 'triggers.change.grants', 'triggers.change.refused'), () => {
  test('a row of a configured table starts a run of the tenant to which it is granted, and of no other', async () => {
    const { body: document } = await host.call('/.well-known/svc', { major: '2' });
    expect(document.triggerBridge.sources).toContain('change');
    const refused = await host.call('/trigger-subscriptions', {
      major: '2',
      body: { ...RULES, change: { table: 'theirs' } },
    });
    expect([refused.status, refused.body.error]).toEqual([403, 'forbidden']);
    const { status, body } = await host.call('/trigger-subscriptions', { major: '2', body: RULES });
    expect([status, body.subscription.source]).toEqual([201, 'change']);
    const insert = database.prepare('INSERT INTO orders (name, "the note") VALUES (?, ?)');
    for (const note of ['first', 'x'.repeat(2000), 'last']) insert.run('order', note);
    const id = body.subscription.subscriptionId.split('/')[1];
    const trigger = async () => (await host.call(`/host/example/triggers/${id}`, { major: '2' })).body;
    await eventually(async () => (await trigger()).reading?.cursor === '["i3"]');
    const { body: list } = await host.call('/runs', { major: '2' });
    expect(list.runs).toMatchObject([{ workflowId: 'echo' }, { workflowId: 'echo' }]);
    const { body: page } = await host.call(`/host/example/triggers/${id}/messages`, { major: '2' });
    const problems = page.messages.flatMap(({ problem }: { problem?: string }) => problem ?? []);
    expect(problems).toEqual(['message: has more than 1024 bytes']);
    expect(await trigger()).toMatchObject({ state: 'active', change: { table: 'orders' }, reading: { failures: 0 } });
    expect(JSON.stringify(await trigger())).not.toContain(file);
  });
});
