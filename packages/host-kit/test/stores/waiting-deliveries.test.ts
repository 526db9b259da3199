import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Chance, chance } from '@svc/tools/chance';
import { afterAll, expect, test } from 'vitest';
import type { ClaimedDelivery } from '../../src/ports/deliveries.ts';
import type { Store } from '../../src/ports/store.ts';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import { WaitingDeliveries } from '../../src/stores/sqlite/waiting-deliveries.ts';
import { ANY_ROOM, TENANCY } from '../../src/testing/store-contract/samples.ts';
import { sampleDelivery, sampleSubscription } from '../webhooks/samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-waiting-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const row = (position: number, dueAt: number, webhookId = 'whk_1') => {
  const delivery = sampleDelivery({ deliveryId: `dlv_${position}`, webhookId, dueAt });
  return { position, webhookId, dueAt, delivery };
};
const positionsOf = (waiting: WaitingDeliveries, webhookId = 'whk_1') =>
  waiting.first(webhookId, 100_000).map(({ position }) => position);

test('rows are in the order of their due times and positions, and each is there once', () => {
  const waiting = new WaitingDeliveries();
  for (const [position, dueAt] of [
    [1, 5],
    [3, 9],
    [2, 5],
    [4, 1],
    [2, 5],
    [3, 9],
  ] as const)
    waiting.add(row(position, dueAt));
  expect(positionsOf(waiting)).toEqual([4, 1, 2, 3]);
  waiting.take('whk_1', 2);
  expect(positionsOf(waiting)).toEqual([2, 3]);
});

test('a subscription with too many rows becomes unknown, until all of its rows are learnt', () => {
  const waiting = new WaitingDeliveries();
  for (let position = 1; position <= 1001; position++) waiting.add(row(position, 1));
  waiting.add(row(2000, 1, 'whk_2'));
  expect([waiting.isKnown('whk_1'), waiting.isKnown('whk_2')]).toEqual([false, true]);
  expect([positionsOf(waiting), positionsOf(waiting, 'whk_2')]).toEqual([[], [2000]]);
  waiting.add(row(1002, 1));
  expect(positionsOf(waiting)).toEqual([]);
  waiting.learn('whk_1', [row(1003, 1)]);
  expect([waiting.isKnown('whk_1'), positionsOf(waiting)]).toEqual([true, [1003]]);
});

test('the rows of all subscriptions together are bounded, by their number and by their bytes', () => {
  const many = new WaitingDeliveries();
  for (let each = 0; each < 25_000; each++) many.add(row(each, 1, `whk_${each % 100}`));
  let kept = 0;
  for (let each = 0; each < 100; each++) kept += positionsOf(many, `whk_${each}`).length;
  expect(kept).toBeLessThanOrEqual(20_000);
  const large = new WaitingDeliveries();
  const body = new Uint8Array(1024 * 1024);
  for (let each = 0; each < 40; each++) {
    const delivery = sampleDelivery({ deliveryId: `dlv_${each}`, webhookId: `whk_${each}`, body });
    large.add({ position: each, webhookId: `whk_${each}`, dueAt: 1, delivery });
  }
  let known = 0;
  for (let each = 0; each < 40; each++) known += positionsOf(large, `whk_${each}`).length;
  expect(known).toBe(16);
});

/** Claims everything that is due at `now`, and settles it as the callback says. */
async function drain(store: Store, now: number, claimed: (delivery: ClaimedDelivery) => void): Promise<void> {
  for (;;) {
    const all = await store.deliveries.claim({ now, leaseUntil: now + 100_000, limit: 500, room: ANY_ROOM });
    if (all.length === 0) return;
    for (const each of all) claimed(each);
    const ends = all.map((claim) => ({ claim, settlement: { kind: 'delivered' } as const }));
    await store.transaction((transaction) => store.deliveries.settle(ends, transaction));
  }
}

const WEBHOOKS = ['whk_0', 'whk_1', 'whk_2', 'whk_3'] as const;

/** Does random things to a store, and returns the deliveries that have to be claimed in the end. */
async function disturbed(store: Store, luck: Chance): Promise<ReadonlySet<string>> {
  const owed = new Map<string, string>();
  let held: ClaimedDelivery[] = [];
  let next = 0;
  let now = 1000;
  const inTransaction = store.transaction;
  const enqueue = async (count: number) => {
    const deliveries = Array.from({ length: count }, () =>
      sampleDelivery({ deliveryId: `dlv_${next++}`, webhookId: luck.pick(WEBHOOKS), dueAt: now + luck.below(3) * 50 }),
    );
    const isUndone = luck.happens(0.1);
    const done = inTransaction(async (transaction) => {
      await store.deliveries.enqueue(deliveries, transaction);
      if (isUndone) throw new Error('undone');
    });
    await done.catch(() => {});
    if (!isUndone) for (const { deliveryId, webhookId } of deliveries) owed.set(deliveryId, webhookId);
  };
  const claim = async () => {
    const limit = 1 + luck.below(40);
    const claimed = await store.deliveries.claim({ now, leaseUntil: now + 1000 + next++, limit, room: ANY_ROOM });
    for (const each of claimed) {
      expect(owed.has(each.deliveryId)).toBe(true);
      expect(held.some(({ deliveryId, leaseUntil }) => deliveryId === each.deliveryId && leaseUntil > now)).toBe(false);
    }
    held = [...held.filter(({ leaseUntil }) => leaseUntil > now), ...claimed];
  };
  const settle = async () => {
    const ending = held.splice(0, luck.below(30));
    const ends = ending.map((each) => {
      const what = luck.next();
      if (what < 0.5) return { claim: each, settlement: { kind: 'delivered' } as const };
      const attempts = each.attempts + 1;
      if (what < 0.75) {
        return { claim: each, settlement: { kind: 'retry', dueAt: now + 20.5, attempts, lastStatus: 500 } as const };
      }
      const dead = { kind: 'dead', at: now, expiresAt: now + 1e13, attempts, lastStatus: 500 } as const;
      return { claim: each, settlement: dead };
    });
    const settled = await inTransaction((transaction) => store.deliveries.settle(ends, transaction));
    for (const [index, { claim: ended, settlement }] of ends.entries()) {
      if (settled[index] === true && settlement.kind === 'delivered') owed.delete(ended.deliveryId);
    }
  };
  const redrive = async (limit: number) => {
    const webhookId = luck.pick(WEBHOOKS);
    const asked = { webhookId, deliveryIds: undefined, before: now, now, limit };
    await inTransaction((transaction) => store.deliveries.redrive(asked, transaction));
  };
  const setStatus = (webhookId: string, status: 'paused' | 'active') =>
    inTransaction((transaction) =>
      store.subscriptions.updateState(webhookId, (found) => ({ ...found, status }), transaction),
    );
  for (let step = 0; step < 250; step++) {
    now += luck.below(60);
    const what = luck.next();
    if (what < 0.3) await Promise.all([enqueue(luck.below(20)), claim()]);
    else if (what < 0.55) await claim();
    else if (what < 0.8) await Promise.all([settle(), enqueue(1), claim()]);
    else if (what < 0.85) await store.deliveries.release(held.splice(0, luck.below(10)), now);
    else if (what < 0.9) await redrive(luck.below(20));
    else if (what < 0.97) await setStatus(luck.pick(WEBHOOKS), luck.pick(['paused', 'active']));
    else await store.deliveries.limitWaits({ dueBy: now + 10, leaseUntil: now + 2000 });
  }
  for (const webhookId of WEBHOOKS) await setStatus(webhookId, 'active');
  const end = { before: 1e12, now: 1e12, limit: 100_000 };
  for (const webhookId of WEBHOOKS) {
    const all = { webhookId, deliveryIds: undefined, ...end };
    await inTransaction((transaction) => store.deliveries.redrive(all, transaction));
  }
  return new Set(owed.keys());
}

test.each(Array.from({ length: 12 }, (_, index) => index + 1))(
  'in any order of operations, every delivery that was enqueued and not settled is claimed once (seed %i)',
  async (seed) => {
    const path = join(folder, `${seed}.db`);
    let store = sqliteStore(path);
    await store.transaction(async (transaction) => {
      for (const webhookId of WEBHOOKS)
        await store.subscriptions.insert(sampleSubscription({ webhookId }), transaction);
    });
    const owed = await disturbed(store, chance(seed));
    if (seed % 3 === 0) {
      await store.close();
      store = sqliteStore(path);
    }
    const claimed: string[] = [];
    await drain(store, 2e12, ({ deliveryId }) => claimed.push(deliveryId));
    expect(claimed.toSorted()).toEqual([...owed].toSorted());
    await store.close();
  },
);

test('a delivery of a subscription that is removed is not claimed from memory', async () => {
  const store = sqliteStore(join(folder, 'removed.db'));
  await store.transaction(async (transaction) => {
    await store.subscriptions.insert(sampleSubscription({ webhookId: 'whk_1' }), transaction);
    await store.deliveries.enqueue([sampleDelivery({ webhookId: 'whk_1' })], transaction);
  });
  await store.transaction((transaction) => store.subscriptions.remove(TENANCY, 'whk_1', transaction));
  const claimed: string[] = [];
  await drain(store, 1e12, ({ deliveryId }) => claimed.push(deliveryId));
  expect(claimed).toEqual([]);
  await store.close();
});

test('a claim sees what another process has written to the table', async () => {
  const path = join(folder, 'foreign.db');
  const store = sqliteStore(path);
  const enqueue = (deliveryId: string) =>
    store.transaction((transaction) =>
      store.deliveries.enqueue([sampleDelivery({ deliveryId, webhookId: 'whk_1' })], transaction),
    );
  await store.transaction((transaction) =>
    store.subscriptions.insert(sampleSubscription({ webhookId: 'whk_1' }), transaction),
  );
  for (const deliveryId of ['dlv_1', 'dlv_2']) await enqueue(deliveryId);
  // A list brings them from the journal to their table.
  expect((await store.deliveries.waiting('whk_1', { limit: 2 })).length).toBe(2);
  const shell = new DatabaseSync(path);
  shell.exec(`DELETE FROM deliveries WHERE delivery_id = 'dlv_1'`);
  shell.exec(`UPDATE deliveries SET body = CAST('edited' AS BLOB) WHERE delivery_id = 'dlv_2'`);
  shell.close();
  await enqueue('dlv_3');
  const claimed: string[] = [];
  await drain(store, 1e12, ({ deliveryId, body }) => claimed.push(`${deliveryId} ${Buffer.from(body)}`));
  expect(claimed.map((each) => each.split(' ')[0]).toSorted()).toEqual(['dlv_2', 'dlv_3']);
  expect(claimed.filter((each) => each.endsWith('edited'))).toEqual(['dlv_2 edited']);
  await store.close();
});
