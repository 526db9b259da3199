import type { Delivery, WaitingCursor } from '../../ports/deliveries.ts';
import type { Store } from '../../ports/store.ts';
import type { Transaction } from '../../ports/transaction.ts';
import type { StoreContract } from './contract.ts';
import { CLAIM, CLAIMED, claimed, sampleDelivery, withSubscriptions } from './samples.ts';

/** Tests of the settlements of `DeliveryQueue`, of dead letters, and of deliveries that are queued again. */
export function settlementsContract(contract: StoreContract): void {
  settlements(contract);
  deadLetters(contract);
  expiredLetters(contract);
  again(contract);
}

function settlements({ onStore, assert }: StoreContract): void {
  onStore('a retry is due at its time and counts its attempts', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await store.transaction((transaction) => store.deliveries.enqueue([sampleDelivery({})], transaction));
    await store.deliveries.claim(CLAIM);
    const retry = { kind: 'retry', dueAt: 1200, attempts: 1, lastStatus: 500 } as const;
    await store.transaction((transaction) =>
      store.deliveries.settle([{ claim: CLAIMED, settlement: retry }], transaction),
    );
    assert.deepEqual(await store.deliveries.claim({ ...CLAIM, now: 1199 }), []);
    assert.deepEqual(await store.deliveries.claim({ ...CLAIM, now: 1200 }), [
      claimed(sampleDelivery({ attempts: 1, dueAt: 1200 })),
    ]);
  });

  onStore('a rolled-back settlement leaves the claim held', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await store.transaction((transaction) => store.deliveries.enqueue([sampleDelivery({})], transaction));
    await store.deliveries.claim(CLAIM);
    for (const settlement of [
      { kind: 'delivered' },
      { kind: 'retry', dueAt: 1100, attempts: 1, lastStatus: 500 },
    ] as const) {
      const undone = store.transaction(async (transaction) => {
        await store.deliveries.settle([{ claim: CLAIMED, settlement }], transaction);
        throw new Error('no');
      });
      await assert.rejects(undone);
      assert.deepEqual(await store.deliveries.claim({ ...CLAIM, now: 1200 }), []);
    }
    await store.deliveries.release([CLAIMED], CLAIM.now);
    assert.deepEqual((await store.deliveries.claim({ ...CLAIM, now: 1200 })).length, 1);
    const delivered = (transaction: Transaction) =>
      store.deliveries.settle([{ claim: CLAIMED, settlement: { kind: 'delivered' } }], transaction);
    assert.deepEqual(await store.transaction(delivered), [true]);
    assert.deepEqual(await store.deliveries.nextDueAfter(0), undefined);
  });

  onStore('a delivered delivery leaves the queue', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await store.transaction((transaction) => store.deliveries.enqueue([sampleDelivery({})], transaction));
    await store.deliveries.claim(CLAIM);
    await store.transaction((transaction) =>
      store.deliveries.settle([{ claim: CLAIMED, settlement: { kind: 'delivered' } }], transaction),
    );
    assert.deepEqual(await store.deliveries.nextDueAfter(0), undefined);
  });
}

function deadLetters({ onStore, assert }: StoreContract): void {
  onStore('a dead letter is kept until it expires, and listed without its body', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await store.transaction((transaction) => store.deliveries.enqueue([sampleDelivery({})], transaction));
    await store.deliveries.claim(CLAIM);
    const dead = { kind: 'dead', at: 1100, expiresAt: 5000, attempts: 3, lastStatus: undefined } as const;
    await store.transaction((transaction) =>
      store.deliveries.settle([{ claim: CLAIMED, settlement: dead }], transaction),
    );
    const { deliveryId, webhookId, runId, eventId, eventType } = sampleDelivery({});
    const letter = {
      deliveryId,
      webhookId,
      runId,
      eventId,
      eventType,
      attempts: 3,
      deadLetteredAt: 1100,
      expiresAt: 5000,
    };
    const page = { limit: 10, now: 4999 };
    assert.deepEqual(await store.deliveries.deadLetters('whk_1', page), [{ ...letter, lastStatus: undefined }]);
    assert.deepEqual(await store.deliveries.claim({ ...CLAIM, now: 9000 }), []);
    assert.deepEqual(await store.deliveries.sweep(4999, 10), 0);
    assert.deepEqual(await store.deliveries.sweep(5000, 10), 1);
    assert.deepEqual(await store.deliveries.deadLetters('whk_1', page), []);
  });

  onStore('dead letters are listed in pages, newest first, each once', async (store) => {
    await withSubscriptions(store, 'whk_1');
    const ids = ['dlv_1', 'dlv_2', 'dlv_3', 'dlv_4', 'dlv_5'];
    const deliveries = ids.map((deliveryId) => sampleDelivery({ deliveryId }));
    await store.transaction((transaction) => store.deliveries.enqueue(deliveries, transaction));
    await store.deliveries.claim(CLAIM);
    await store.transaction(async (transaction) => {
      // Pairs of the same time sort by id.
      for (const [index, deliveryId] of ids.entries()) {
        const at = 1000 + Math.floor(index / 2);
        const dead = { kind: 'dead', at, expiresAt: 9000, attempts: 3, lastStatus: 500 } as const;
        await store.deliveries.settle([{ claim: { ...CLAIMED, deliveryId }, settlement: dead }], transaction);
      }
    });
    const first = await store.deliveries.deadLetters('whk_1', { limit: 2, now: 1000 });
    const second = await store.deliveries.deadLetters('whk_1', { before: first.at(-1), limit: 2, now: 1000 });
    const third = await store.deliveries.deadLetters('whk_1', { before: second.at(-1), limit: 2, now: 1000 });
    assert.deepEqual(
      [first, second, third].map((page) => page.map(({ deliveryId }) => deliveryId)),
      [['dlv_5', 'dlv_4'], ['dlv_3', 'dlv_2'], ['dlv_1']],
    );
  });

  onStore('a redriven dead letter is due again without attempts; the others stay', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    const ids = ['dlv_1', 'dlv_2', 'dlv_3'];
    const deliveries = ids.map((deliveryId) =>
      sampleDelivery({ deliveryId, webhookId: deliveryId === 'dlv_3' ? 'whk_2' : 'whk_1' }),
    );
    await store.transaction((transaction) => store.deliveries.enqueue(deliveries, transaction));
    await store.deliveries.claim(CLAIM);
    await store.transaction(async (transaction) => {
      const dead = { kind: 'dead', at: 1, expiresAt: 9000, attempts: 3, lastStatus: 500 } as const;
      for (const deliveryId of ids)
        await store.deliveries.settle([{ claim: { ...CLAIMED, deliveryId }, settlement: dead }], transaction);
    });
    const redrive = (webhookId: string, deliveryIds: string[] | undefined, before = 2000) =>
      store.transaction((transaction) =>
        store.deliveries.redrive({ webhookId, deliveryIds, before, now: 2000, limit: 10 }, transaction),
      );
    // Dead letters newer than `before` stay: a redrive in steps would otherwise meet them again.
    assert.deepEqual(await redrive('whk_1', undefined, 0), 0);
    assert.deepEqual(await redrive('whk_1', ['dlv_2'], 0), 0);
    assert.deepEqual(await redrive('whk_1', ['dlv_2', 'dlv_3', 'dlv_9']), 1);
    assert.deepEqual(await store.deliveries.claim({ ...CLAIM, now: 2000 }), [
      claimed(sampleDelivery({ deliveryId: 'dlv_2', attempts: 0, dueAt: 2000 })),
    ]);
    assert.deepEqual(await redrive('whk_1', undefined), 1);
    assert.deepEqual(await store.deliveries.deadLetters('whk_1', { limit: 10, now: 1000 }), []);
    assert.deepEqual((await store.deliveries.deadLetters('whk_2', { limit: 10, now: 1000 })).length, 1);
  });

  onStore('dead letters that a clock ahead has stored are redriven and transferred', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    const ids = ['dlv_1', 'dlv_2', 'dlv_3'];
    const deliveries = ids.map((deliveryId) => sampleDelivery({ deliveryId }));
    await store.transaction((transaction) => store.deliveries.enqueue(deliveries, transaction));
    const dead = { kind: 'dead', at: 2001, expiresAt: 9000, attempts: 3, lastStatus: 500 } as const;
    const ended = (await store.deliveries.claim(CLAIM)).map((claim) => ({ claim, settlement: dead }));
    await store.transaction((transaction) => store.deliveries.settle(ended, transaction));
    const request = { before: 1000, now: 2000, limit: 1 };
    const counts = await store.transaction(async (transaction) => [
      await store.deliveries.redrive({ ...request, webhookId: 'whk_1', deliveryIds: ['dlv_2'] }, transaction),
      await store.deliveries.redrive({ ...request, webhookId: 'whk_1', deliveryIds: undefined }, transaction),
      await store.deliveries.transfer({ ...request, from: 'whk_1', to: 'whk_2' }, transaction),
    ]);
    assert.deepEqual(counts, [1, 1, 1]);
    assert.deepEqual(await store.deliveries.deadLetters('whk_1', { limit: 10, now: 1000 }), []);
  });
}

function expiredLetters({ onStore, assert }: StoreContract): void {
  onStore('a dead letter is gone when it expires, though no sweep has deleted it yet', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    // The newest expires first: its subscription had a shorter retention when it failed.
    const expiry = { dlv_1: 9000, dlv_2: 5001, dlv_3: 5000 };
    const ids = Object.keys(expiry);
    const deliveries = ids.map((deliveryId) => sampleDelivery({ deliveryId }));
    await store.transaction((transaction) => store.deliveries.enqueue(deliveries, transaction));
    await store.deliveries.claim(CLAIM);
    const ended = Object.entries(expiry).map(([deliveryId, expiresAt], index) => ({
      claim: { ...CLAIMED, deliveryId },
      settlement: { kind: 'dead', at: 1000 + index, expiresAt, attempts: 3, lastStatus: 500 } as const,
    }));
    await store.transaction((transaction) => store.deliveries.settle(ended, transaction));

    const idsOf = (found: readonly { readonly deliveryId: string }[]) => found.map(({ deliveryId }) => deliveryId);
    const all = { eventTypes: undefined, statuses: undefined, fromId: undefined, belowId: undefined };
    const seenAt = async (now: number) => ({
      listed: idsOf(await store.deliveries.deadLetters('whk_1', { limit: 1, now })),
      queued: idsOf(await store.deliveries.queued('whk_1', ids, now)).toSorted(),
      counted: (
        await store.deliveries.countDeadLetters('whk_1', {
          ...{ before: undefined, limit: 9, now },
          stepMs: 1000,
          selection: all,
        })
      ).lookedAt,
    });
    assert.deepEqual(await seenAt(4999), { listed: ['dlv_3'], queued: ids, counted: 3 });
    // A page is filled with those that are left.
    assert.deepEqual(await seenAt(5000), { listed: ['dlv_2'], queued: ['dlv_1', 'dlv_2'], counted: 2 });
    assert.deepEqual(await seenAt(9000), { listed: [], queued: [], counted: 0 });

    const request = { before: 5000, limit: 9 };
    const again = await store.transaction(async (transaction) => [
      await store.deliveries.redrive(
        { ...request, now: 5000, webhookId: 'whk_1', deliveryIds: ['dlv_3'] },
        transaction,
      ),
      await store.deliveries.redrive(
        { ...request, now: 9000, webhookId: 'whk_1', deliveryIds: undefined },
        transaction,
      ),
      await store.deliveries.transfer({ ...request, now: 9000, from: 'whk_1', to: 'whk_2' }, transaction),
      await store.deliveries.transfer({ ...request, now: 5001, from: 'whk_1', to: 'whk_2' }, transaction),
    ]);
    assert.deepEqual(again, [0, 0, 0, 1]);
    assert.deepEqual(idsOf(await store.deliveries.claim({ ...CLAIM, now: 5001 })), ['dlv_1']);
  });
}

function again({ onStore, assert }: StoreContract): void {
  const enqueueAgain = (store: Store, ...deliveries: readonly Delivery[]) =>
    store.transaction((transaction) => store.deliveries.enqueueAgain(deliveries, transaction));
  const enqueue = (store: Store, ...deliveries: readonly Delivery[]) =>
    store.transaction((transaction) => store.deliveries.enqueue(deliveries, transaction));

  onStore('enqueueAgain adds a delivery that is not queued, and leaves one that waits or is claimed', async (store) => {
    await withSubscriptions(store, 'whk_1');
    const [first, second] = [sampleDelivery({}), sampleDelivery({ deliveryId: 'dlv_2' })];
    assert.deepEqual(await enqueueAgain(store, first, second), 2);
    assert.deepEqual(await enqueueAgain(store, first), 0);
    assert.deepEqual(await store.deliveries.claim(CLAIM), [claimed(first), claimed(second)]);
    assert.deepEqual(await enqueueAgain(store, first), 0);
    assert.deepEqual(await store.deliveries.claim({ ...CLAIM, now: 1001 }), []);
  });

  onStore('enqueueAgain revives a dead letter, with no attempts counted', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await enqueue(store, sampleDelivery({}));
    await store.deliveries.claim(CLAIM);
    const settlement = { kind: 'dead', at: 1000, expiresAt: 9000, attempts: 3, lastStatus: 500 } as const;
    await store.transaction((transaction) => store.deliveries.settle([{ claim: CLAIMED, settlement }], transaction));
    const dead = { ...summary(sampleDelivery({ attempts: 3 })), lastStatus: 500 };
    const expected = { ...dead, state: 'dead', deadLetteredAt: 1000, expiresAt: 9000 };
    assert.deepEqual(await store.deliveries.queued('whk_1', ['dlv_1', 'dlv_9'], 1000), [expected]);
    assert.deepEqual(await store.deliveries.queued('whk_2', ['dlv_1'], 1000), []);
    assert.deepEqual(await enqueueAgain(store, sampleDelivery({ dueAt: 2000 })), 1);
    assert.deepEqual(await store.deliveries.deadLetters('whk_1', { limit: 10, now: 1000 }), []);
    const found = await store.deliveries.claim({ ...CLAIM, now: 2000 });
    assert.deepEqual(found, [claimed(sampleDelivery({ dueAt: 2000 }))]);
  });

  onStore('waiting deliveries are listed by their due times, in pages', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    const due = [3000, 1000, 2000, 1000].map((dueAt, index) => sampleDelivery({ deliveryId: `dlv_${index}`, dueAt }));
    await enqueue(store, ...due, sampleDelivery({ deliveryId: 'dlv_other', webhookId: 'whk_2' }));
    const ids: string[] = [];
    let after: WaitingCursor | undefined;
    for (let pages = 0; pages < 3; pages++) {
      const page = await store.deliveries.waiting('whk_1', { after, limit: 2 });
      ids.push(...page.map(({ deliveryId }) => deliveryId));
      after = page.at(-1) ?? after;
    }
    assert.deepEqual(ids, ['dlv_1', 'dlv_3', 'dlv_2', 'dlv_0']);
    const [first] = await store.deliveries.waiting('whk_1', { limit: 1 });
    const { position: _, ...listed } = first ?? { position: 0 };
    const expected = { ...summary(sampleDelivery({ deliveryId: 'dlv_1' })), lastStatus: undefined };
    assert.deepEqual(listed, { ...expected, state: 'waiting', dueAt: 1000 });
  });
}

/** A delivery without its body and due time. */
function summary({ body: _, dueAt: _dueAt, ...delivery }: Delivery) {
  return delivery;
}
