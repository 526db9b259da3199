import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Store } from '../../src/ports/store.ts';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import { sampleSubscription } from '../webhooks/samples.ts';

let folder: string;
let store: Store;
const TENANCY = { tenant: 'acme', workspaces: 'all', mode: 'live' } as const;
const TOPIC = { runId: 'run_1', tenant: 'acme', mode: 'live', eventType: 'run.started' } as const;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-known-'));
  store = sqliteStore(join(folder, 'svc.db'));
  await insert('whk_1');
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const insert = (webhookId: string) =>
  store.transaction((transaction) =>
    store.subscriptions.insert(
      sampleSubscription({ webhookId, tenant: 'acme', workspaces: 'all', events: ['run.started'] }),
      transaction,
    ),
  );
const pause = (undone = false) =>
  store.transaction(async (transaction) => {
    await store.subscriptions.updateState('whk_1', (before) => ({ ...before, status: 'paused' }), transaction);
    if (undone) throw new Error('undone');
  });
const listening = () =>
  store.transaction(async (transaction) => {
    const [heard = []] = await store.subscriptions.listening([TOPIC], transaction);
    return heard.map(({ webhookId, status }) => `${webhookId} ${status}`).sort();
  });
const status = async () => (await store.subscriptions.read('whk_1'))?.status;

test('a lookup returns cached subscriptions in their current state', async () => {
  expect(await listening()).toEqual(['whk_1 active']);
  await insert('whk_2');
  expect(await listening()).toEqual(['whk_1 active', 'whk_2 active']);
  await pause();
  expect(await listening()).toEqual(['whk_1 paused', 'whk_2 active']);
  await store.transaction((transaction) => store.subscriptions.remove(TENANCY, 'whk_1', transaction));
  expect([await listening(), await status()]).toEqual([['whk_2 active'], undefined]);
});

test('transactions of the same commit see a change, and readers see it afterwards', async () => {
  expect([await listening(), await status()]).toEqual([['whk_1 active'], 'active']);
  const changed = pause();
  const [shared] = await Promise.all([listening(), changed]);
  expect([shared, await status()]).toEqual([['whk_1 paused'], 'paused']);
});

test('a read during an uncommitted change is not cached', async () => {
  let seen: string | undefined;
  await store.transaction(async (transaction) => {
    await store.subscriptions.updateState('whk_1', (before) => ({ ...before, status: 'paused' }), transaction);
    seen = await status();
  });
  expect([seen, await status()]).toEqual(['active', 'paused']);
});

test('a rolled-back change is not cached', async () => {
  expect(await listening()).toEqual(['whk_1 active']);
  const undone = pause(true).catch(() => 'undone');
  const after = listening();
  expect([await undone, await after, await status()]).toEqual(['undone', ['whk_1 active'], 'active']);
});
