import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import { writeAheadLog } from '../../src/stores/sqlite/write-ahead-log.ts';
import { writer as openWriter } from '../../src/stores/sqlite/writer.ts';
import { ANY_ROOM, roomFor } from '../../src/testing/store-contract/samples.ts';
import { sampleDelivery, sampleSubscription } from '../webhooks/samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TENANCY = { tenant: 'acme', workspaces: 'all', mode: 'live' } as const;
const CLAIM = { now: 1000, leaseUntil: 9000, limit: 10_000, room: ANY_ROOM };

/** Opens a store with subscriptions, and with the given number of waiting deliveries for each. */
async function seeded(path: string, waiting: Readonly<Record<string, number>>) {
  const store = sqliteStore(path);
  await store.transaction(async (transaction) => {
    for (const [webhookId, count] of Object.entries(waiting)) {
      await store.subscriptions.insert(sampleSubscription({ webhookId }), transaction);
      const deliveries = Array.from({ length: count }, (_, index) =>
        sampleDelivery({ deliveryId: `dlv_${webhookId}_${index}`, webhookId }),
      );
      await store.deliveries.enqueue(deliveries, transaction);
    }
  });
  return store;
}

test.each(['', '  ', ':memory:', 'file:svc.db?mode=memory', 'FILE::memory:'])(
  'refuses the path "%s", which names no file, and leaves no file',
  (path) => {
    const before = readdirSync('.');
    expect(() => sqliteStore(path)).toThrow(
      /^path: .* names no file\. Pass the path of a file, or use memoryStore\(\)\.$/,
    );
    expect(() => sqliteStore(path)).toThrow(TypeError);
    expect(readdirSync('.')).toEqual(before);
  },
);

test('the next process claims deliveries at once that the former one had claimed', async () => {
  const path = join(folder, 'again.db');
  const before = await seeded(path, { whk_1: 3, whk_2: 1 });
  expect((await before.deliveries.claim(CLAIM)).length).toBe(4);
  await before.close();
  const after = sqliteStore(path);
  expect((await after.deliveries.claim(CLAIM)).length).toBe(4);
  await after.close();
});

test('subscriptions take turns, independent of their backlogs', async () => {
  const store = await seeded(join(folder, 'turns.db'), { whk_1: 9, whk_2: 2, whk_3: 3 });
  const served: string[] = [];
  for (let round = 0; round < 7; round++) {
    const claimed = await store.deliveries.claim({
      ...CLAIM,
      leaseUntil: 9000 + round,
      limit: 2,
      room: roomFor({ perSubscription: 1 }),
    });
    served.push(...claimed.map(({ webhookId }) => webhookId.slice(-1)));
  }
  expect(served.join('')).toBe('12312313111');
  await store.close();
});

test('deliveries of a removed subscription are deleted in steps, also after a restart', async () => {
  const path = join(folder, 'steps.db');
  const before = await seeded(path, { whk_1: 3500, whk_2: 1 });
  // A list brings them from the journal to their table.
  expect((await before.deliveries.waiting('whk_1', { limit: 1 })).length).toBe(1);
  const gone = await before.transaction((transaction) => before.subscriptions.remove(TENANCY, 'whk_1', transaction));
  expect(gone.kind).toBe('found');
  expect((await before.deliveries.claim(CLAIM)).map(({ webhookId }) => webhookId)).toEqual(['whk_2']);
  expect(await before.deliveries.sweep(1000, 500)).toBe(500);
  await before.close();
  const after = sqliteStore(path);
  expect((await after.deliveries.claim(CLAIM)).map(({ webhookId }) => webhookId)).toEqual(['whk_2']);
  expect(await after.deliveries.sweep(1000, 1500)).toBe(1500);
  expect(await after.deliveries.sweep(1000, 1500)).toBe(500);
  expect(await after.deliveries.sweep(1000, 1500)).toBe(0);
  await after.close();
  const database = new DatabaseSync(path);
  expect(database.prepare('SELECT count(*) AS count FROM deliveries').get()).toEqual({ count: 1 });
  database.close();
});

test('transactions reject when the store has been closed', async () => {
  const store = await seeded(join(folder, 'closed.db'), {});
  await store.close();
  const late = () => store.transaction(async () => 'done');
  const all = await Promise.allSettled([late(), late()]);
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(late()).rejects.toThrow();
});

test('on a full disk all transactions of a commit reject, and a smaller one succeeds afterwards', async () => {
  const path = join(folder, 'full.db');
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE kept (bytes BLOB); PRAGMA max_page_count = 40');
  const insert = database.prepare('INSERT INTO kept VALUES (?)');
  const reader = new DatabaseSync(path, { readOnly: true });
  const log = writeAheadLog({ path, database, reader });
  const writer = openWriter(database, log);
  const told: string[] = [];
  const keep = (bytes: number) =>
    writer.transaction(async (transaction) => {
      writer.whenCommitted(transaction, () => told.push(`${bytes} bytes`));
      insert.run(new Uint8Array(bytes));
    });
  const count = () => database.prepare('SELECT count(*) AS count FROM kept').get()?.count;
  const shared = await Promise.allSettled([keep(100), keep(1_000_000), keep(100)]);
  for (const each of shared)
    expect(each).toMatchObject({ status: 'rejected', reason: { message: expect.stringMatching('full') } });
  expect([count(), told]).toEqual([0, []]);
  await keep(100);
  expect([count(), told]).toEqual([1, ['100 bytes']]);
  log.close();
  reader.close();
  database.close();
});
