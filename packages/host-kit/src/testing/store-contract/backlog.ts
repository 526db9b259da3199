import type { StoreContract } from './contract.ts';
import { CLAIM, sampleDelivery, withSubscriptions } from './samples.ts';

/** Tests of `BacklogStore`. */
export function backlogContract({ onStore, assert }: StoreContract): void {
  const ALL = { webhookIds: undefined, now: 5000, limit: 100 };

  onStore('the backlog counts due deliveries, but not claimed or dead ones, or those due later', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    assert.deepEqual(await store.backlog.read(ALL), { due: 0, oldestDueAt: undefined });
    const due = { dlv_1: 1000, dlv_2: 3000, dlv_3: 2000, dlv_4: 4000, dlv_5: 6000 };
    const deliveries = Object.entries(due).map(([deliveryId, dueAt]) =>
      sampleDelivery({ deliveryId, dueAt, webhookId: deliveryId === 'dlv_3' ? 'whk_2' : 'whk_1' }),
    );
    await store.transaction((transaction) => store.deliveries.enqueue(deliveries, transaction));
    assert.deepEqual(await store.backlog.read(ALL), { due: 4, oldestDueAt: 1000 });
    const [claimed] = await store.deliveries.claim(CLAIM);
    assert.deepEqual(await store.backlog.read(ALL), { due: 3, oldestDueAt: 2000 });
    if (claimed === undefined) throw new Error('Nothing was claimed.');
    const dead = { kind: 'dead', at: 1500, expiresAt: 9000, attempts: 3, lastStatus: 500 } as const;
    await store.transaction((transaction) =>
      store.deliveries.settle([{ claim: claimed, settlement: dead }], transaction),
    );
    assert.deepEqual(await store.backlog.read(ALL), { due: 3, oldestDueAt: 2000 });
    assert.deepEqual(await store.backlog.read({ ...ALL, now: 6000 }), { due: 4, oldestDueAt: 2000 });
  });

  onStore('the backlog counts the named subscriptions alone', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    const deliveries = [
      sampleDelivery({ deliveryId: 'dlv_1', dueAt: 1000 }),
      sampleDelivery({ deliveryId: 'dlv_2', dueAt: 2000, webhookId: 'whk_2' }),
      sampleDelivery({ deliveryId: 'dlv_3', dueAt: 3000, webhookId: 'whk_2' }),
    ];
    await store.transaction((transaction) => store.deliveries.enqueue(deliveries, transaction));
    const of = (...webhookIds: string[]) => store.backlog.read({ ...ALL, webhookIds });
    assert.deepEqual(await of('whk_2'), { due: 2, oldestDueAt: 2000 });
    assert.deepEqual(await of('whk_1', 'whk_2', 'whk_9'), { due: 3, oldestDueAt: 1000 });
    assert.deepEqual(await of(), { due: 0, oldestDueAt: undefined });
  });

  onStore('the backlog does not count paused subscriptions', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    const deliveries = [
      sampleDelivery({ deliveryId: 'dlv_1', dueAt: 1000 }),
      sampleDelivery({ deliveryId: 'dlv_2', dueAt: 2000, webhookId: 'whk_2' }),
    ];
    await store.transaction((transaction) => store.deliveries.enqueue(deliveries, transaction));
    await store.transaction((transaction) =>
      store.subscriptions.updateState(
        'whk_1',
        ({ circuit, failures }) => ({ status: 'paused', circuit, failures }),
        transaction,
      ),
    );
    assert.deepEqual(await store.backlog.read(ALL), { due: 1, oldestDueAt: 2000 });
    assert.deepEqual(await store.backlog.read({ ...ALL, webhookIds: ['whk_1'] }), { due: 0, oldestDueAt: undefined });
  });

  onStore(
    'a long backlog is counted up to the limit, and its age is that of the oldest delivery of any subscription',
    async (store) => {
      await withSubscriptions(store, 'whk_1', 'whk_2');
      const long = Array.from({ length: 20 }, (_, index) =>
        sampleDelivery({ deliveryId: `dlv_a${index}`, dueAt: 3000 }),
      );
      const old = sampleDelivery({ deliveryId: 'dlv_b', dueAt: 2000, webhookId: 'whk_2' });
      await store.transaction((transaction) => store.deliveries.enqueue([...long, old], transaction));
      assert.deepEqual(await store.backlog.read({ ...ALL, limit: 7 }), { due: 7, oldestDueAt: 2000 });
      assert.deepEqual(await store.backlog.read(ALL), { due: 21, oldestDueAt: 2000 });
    },
  );

  onStore('the backlog counts released deliveries, and their age', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await store.transaction((transaction) => store.deliveries.enqueue([sampleDelivery({ dueAt: 1000 })], transaction));
    await store.deliveries.release(await store.deliveries.claim(CLAIM), CLAIM.now);
    assert.deepEqual(await store.backlog.read(ALL), { due: 1, oldestDueAt: 1000 });
  });
}
