import { memoryStore } from '@svc/host-kit/stores/memory';
import { expect, test } from 'vitest';
import type { Subscription } from '../../src/ports/subscriptions.ts';
import { sampleRun } from '../../src/testing/store-contract/samples.ts';
import { UnheardRuns } from '../../src/webhooks/unheard-runs.ts';
import { sampleSubscription } from './samples.ts';

/** Runs of the tenant `acme` without a workspace, and a clock that the test moves. */
async function watching(...subscriptions: readonly Partial<Subscription>[]) {
  const store = memoryStore();
  const add = (fields: Partial<Subscription>) =>
    store.transaction((transaction) => store.subscriptions.insert(sampleSubscription(fields), transaction));
  for (const fields of subscriptions) await add({ workspaces: ['main'], ...fields });
  let time = 0;
  let reads = 0;
  const counting = {
    ...store,
    subscriptions: Object.assign(Object.create(store.subscriptions), {
      list: (...page: Parameters<typeof store.subscriptions.list>) => {
        reads += 1;
        return store.subscriptions.list(...page);
      },
    }),
  };
  const clock = { now: () => 0, monotonic: () => time, after: () => () => {} };
  const unheard = new UnheardRuns({ store: counting, clock });
  const { workspace: _, ...run } = sampleRun({ runId: 'run_1', tenant: 'acme', mode: 'live' });
  return {
    add,
    warning: (fields: Partial<typeof run> = {}) => unheard.warningOf({ ...run, ...fields }),
    pass: (ms: number) => {
      time += ms;
    },
    reads: () => reads,
  };
}

test('warns once for a tenant, and says how to create the run', async () => {
  const { warning, pass } = await watching({});
  expect(await warning()).toEqual({
    ...{ level: 'warn', event: 'run.without-workspace', runId: 'run_1', tenant: 'acme' },
    message:
      'run: belongs to no workspace, so the webhook whk_1 of the workspace main does not hear of it. ' +
      'Create runs with "tenantId": "main", or with an API key whose workspaces are a list.',
  });
  pass(600_000);
  expect(await warning()).toBeUndefined();
});

test.each<[string, Partial<Subscription>]>([
  ['hears of all workspaces', { workspaces: 'all' }],
  ['is of another tenant', { tenant: 'other' }],
  ['is of another mode', { mode: 'test' }],
  ['asks for another tag', { tags: ['other'] }],
  ['is switched off', { durable: false, status: 'failed' }],
  ['is a push of another run', { push: { runId: 'run_2', name: 'p', format: 'a2a' } }],
])('does not warn of a subscription that %s', async (_title, fields) => {
  const { warning } = await watching(fields);
  expect(await warning()).toBeUndefined();
});

test('reads the subscriptions of a tenant once a minute, until it has warned', async () => {
  const { warning, pass, reads, add } = await watching();
  for (let count = 0; count < 100; count++) expect(await warning()).toBeUndefined();
  expect(reads()).toBe(1);
  await add({ workspaces: ['main'] });
  pass(59_999);
  expect(await warning()).toBeUndefined();
  pass(1);
  expect(await warning()).toMatchObject({ level: 'warn' });
  pass(60_000);
  await warning();
  expect(reads()).toBe(2);
});

test('remembers a bounded number of tenants', async () => {
  const { warning, reads } = await watching();
  for (let tenant = 0; tenant < 1000; tenant++) await warning({ tenant: `t${tenant}` });
  await warning({ tenant: 't0' });
  expect(reads()).toBe(1000);
  await warning({ tenant: 'one more' });
  await warning({ tenant: 't0' });
  expect(reads()).toBe(1002);
});
