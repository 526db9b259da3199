import type { Claim, ClaimedDelivery, Delivery, Settlement, WaitingCursor } from '../../ports/deliveries.ts';
import type { Store } from '../../ports/store.ts';
import type { Subscription } from '../../ports/subscriptions.ts';
import type { Transaction } from '../../ports/transaction.ts';
import type { StoreContract } from './contract.ts';
import { CLAIM, sampleDelivery, TENANCY, withSubscriptions } from './samples.ts';

/** Tests of `DeliveryQueue`. */
export function deliveriesContract(contract: StoreContract): void {
  claims(contract);
  simultaneousClaims(contract);
  settlements(contract);
  deadLetters(contract);
  again(contract);
}

function claims({ onStore, assert }: StoreContract): void {
  onStore('a due delivery is claimed once; a later one is not claimed yet', async (store) => {
    await withSubscriptions(store, 'whk_1');
    const due = sampleDelivery({ deliveryId: 'dlv_1' });
    const later = sampleDelivery({ deliveryId: 'dlv_2', dueAt: 2000 });
    await store.transaction((transaction) => store.deliveries.enqueue([due, later], transaction));
    assert.deepEqual(await store.deliveries.claim(CLAIM), [claimed(due)]);
    assert.deepEqual(await store.deliveries.claim(CLAIM), []);
    assert.deepEqual(await store.deliveries.nextDueAfter(1000), 2000);
    assert.deepEqual(await store.deliveries.nextDueAfter(2000), CLAIM.leaseUntil);
  });

  onStore('a long backlog of one subscription does not delay another', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    const backlog = Array.from({ length: 20 }, (_, index) => sampleDelivery({ deliveryId: `dlv_a${index}` }));
    const other = sampleDelivery({ deliveryId: 'dlv_b', webhookId: 'whk_2' });
    await store.transaction((transaction) => store.deliveries.enqueue([...backlog, other], transaction));
    const found = await store.deliveries.claim({ ...CLAIM, limit: 5, capacityOf: () => 4 });
    assert.deepEqual(found.map(({ webhookId }) => webhookId).sort(), ['whk_1', 'whk_1', 'whk_1', 'whk_1', 'whk_2']);
  });

  onStore('a delivery is claimed again after its claim ran out or was released', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await store.transaction((transaction) => store.deliveries.enqueue([sampleDelivery({})], transaction));
    const ids = async (now: number) =>
      (await store.deliveries.claim({ ...CLAIM, now, leaseUntil: now + 500 })).map(({ deliveryId }) => deliveryId);
    assert.deepEqual(await ids(1000), ['dlv_1']);
    assert.deepEqual(await store.deliveries.nextDueAfter(1000), 1500);
    assert.deepEqual(await ids(1499), []);
    assert.deepEqual(await ids(1500), ['dlv_1']);
    await store.deliveries.release([{ ...CLAIMED, leaseUntil: 2000 }]);
    assert.deepEqual(await ids(1501), ['dlv_1']);
  });

  onStore('a new delivery is claimed after a subscription was removed during its attempt', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    const enqueue = (delivery: Delivery) =>
      store.transaction((transaction) => store.deliveries.enqueue([delivery], transaction));
    await enqueue(sampleDelivery({ deliveryId: 'dlv_1' }));
    assert.deepEqual((await store.deliveries.claim(CLAIM)).length, 1);
    await store.transaction((transaction) => store.subscriptions.remove(TENANCY, 'whk_1', transaction));
    const next = sampleDelivery({ deliveryId: 'dlv_2', webhookId: 'whk_2' });
    await enqueue(next);
    assert.deepEqual(await store.deliveries.claim(CLAIM), [claimed(next)]);
  });

  onStore('deliveries of a paused subscription are not claimed', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await store.transaction((transaction) => store.deliveries.enqueue([sampleDelivery({})], transaction));
    const move = (status: Subscription['status']) =>
      store.transaction((transaction) =>
        store.subscriptions.updateState(
          'whk_1',
          ({ circuit, failures }) => ({ status, circuit, failures }),
          transaction,
        ),
      );
    await move('paused');
    assert.deepEqual(await store.deliveries.claim(CLAIM), []);
    await move('active');
    assert.deepEqual((await store.deliveries.claim(CLAIM)).length, 1);
  });

  onStore('rolled-back deliveries are not claimed', async (store) => {
    await withSubscriptions(store, 'whk_1');
    const undone = store.transaction(async (transaction) => {
      await store.deliveries.enqueue([sampleDelivery({})], transaction);
      throw new Error('no');
    });
    await assert.rejects(undone);
    assert.deepEqual(await store.deliveries.claim(CLAIM), []);
    assert.deepEqual(await store.deliveries.nextDueAfter(0), undefined);
    await store.transaction((transaction) => store.deliveries.enqueue([sampleDelivery({})], transaction));
    assert.deepEqual((await store.deliveries.claim(CLAIM)).length, 1);
  });
}

function simultaneousClaims({ onStore, assert }: StoreContract): void {
  onStore('a claim that was taken over can be neither settled nor released', async (store) => {
    const late = [
      { kind: 'delivered' },
      { kind: 'dropped' },
      { kind: 'retry', dueAt: 1, attempts: 9, lastStatus: 500 },
      { kind: 'dead', at: 1, expiresAt: 9000, attempts: 9, lastStatus: 500 },
    ] as const;
    await withSubscriptions(store, 'whk_1');
    await store.transaction((transaction) => store.deliveries.enqueue([sampleDelivery({})], transaction));
    const claimAt = async (now: number) =>
      (await store.deliveries.claim({ ...CLAIM, now, leaseUntil: now + 500 })).map(({ leaseUntil }) => leaseUntil);
    const settled = (claim: Claim, settlement: Settlement) =>
      store.transaction((transaction) => store.deliveries.settle([{ claim, settlement }], transaction));
    assert.deepEqual(await claimAt(1000), [1500]);
    assert.deepEqual(await claimAt(1500), [2000]);
    const [lost, stands] = [
      { ...CLAIMED, leaseUntil: 1500 },
      { ...CLAIMED, leaseUntil: 2000 },
    ];
    for (const settlement of late) assert.deepEqual(await settled(lost, settlement), [false]);
    await store.deliveries.release([lost]);
    assert.deepEqual(await claimAt(1600), []);
    assert.deepEqual(await settled(stands, { kind: 'retry', dueAt: 1700, attempts: 1, lastStatus: 500 }), [true]);
    // This claim has ended too.
    assert.deepEqual(await settled(stands, { kind: 'delivered' }), [false]);
    assert.deepEqual(await claimAt(1700), [2200]);
  });

  onStore('of two claims on one delivery that are settled together, only the later one is held', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await store.transaction((transaction) => store.deliveries.enqueue([sampleDelivery({})], transaction));
    for (const now of [1000, 1500]) await store.deliveries.claim({ ...CLAIM, now, leaseUntil: now + 500 });
    const [lost, stands] = [1500, 2000].map((leaseUntil) => ({
      claim: { ...CLAIMED, leaseUntil },
      settlement: { kind: 'dropped' } as const,
    }));
    if (lost === undefined || stands === undefined) throw new Error('There are two.');
    const settled = await store.transaction((transaction) => store.deliveries.settle([lost, stands], transaction));
    assert.deepEqual(settled, [false, true]);
  });

  onStore('several claims are settled together, each with its own settlement', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    const ids = ['dlv_1', 'dlv_2', 'dlv_3', 'dlv_4', 'dlv_5'];
    const deliveries = ids.map((deliveryId) =>
      sampleDelivery({ deliveryId, webhookId: deliveryId === 'dlv_4' ? 'whk_2' : 'whk_1' }),
    );
    await store.transaction((transaction) => store.deliveries.enqueue(deliveries, transaction));
    const claims = await store.deliveries.claim(CLAIM);
    const claim = (deliveryId: string) => claims.find((each) => each.deliveryId === deliveryId) ?? CLAIMED;
    const settled = await store.transaction((transaction) =>
      store.deliveries.settle(
        [
          { claim: claim('dlv_3'), settlement: { kind: 'retry', dueAt: 1300, attempts: 1, lastStatus: undefined } },
          { claim: { ...CLAIMED, deliveryId: 'dlv_9' }, settlement: { kind: 'delivered' } },
          { claim: claim('dlv_1'), settlement: { kind: 'delivered' } },
          { claim: claim('dlv_4'), settlement: { kind: 'dead', at: 1, expiresAt: 9000, attempts: 3, lastStatus: 500 } },
          { claim: { ...claim('dlv_2'), leaseUntil: 8999 }, settlement: { kind: 'dropped' } },
          { claim: claim('dlv_5'), settlement: { kind: 'dropped' } },
        ],
        transaction,
      ),
    );
    assert.deepEqual(settled, [true, false, true, true, false, true]);
    const next = await store.deliveries.claim({ ...CLAIM, now: 1300 });
    assert.deepEqual(
      next.map(({ deliveryId, attempts }) => [deliveryId, attempts]),
      [['dlv_3', 1]],
    );
    assert.deepEqual((await store.deliveries.deadLetters('whk_2', { limit: 10 })).length, 1);
    assert.deepEqual(await store.deliveries.nextDueAfter(CLAIM.leaseUntil - 1), CLAIM.leaseUntil);
  });
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
    await store.deliveries.release([CLAIMED]);
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
    const page = { limit: 10 };
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
    const first = await store.deliveries.deadLetters('whk_1', { limit: 2 });
    const second = await store.deliveries.deadLetters('whk_1', { before: first.at(-1), limit: 2 });
    const third = await store.deliveries.deadLetters('whk_1', { before: second.at(-1), limit: 2 });
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
    const redrive = (webhookId: string, deliveryIds: string[] | undefined, now = 2000) =>
      store.transaction((transaction) =>
        store.deliveries.redrive({ webhookId, deliveryIds, now, limit: 10 }, transaction),
      );
    // Dead letters newer than `now` stay: a redrive in steps would otherwise meet them again.
    assert.deepEqual(await redrive('whk_1', undefined, 0), 0);
    assert.deepEqual(await redrive('whk_1', ['dlv_2'], 0), 0);
    assert.deepEqual(await redrive('whk_1', ['dlv_2', 'dlv_3', 'dlv_9']), 1);
    assert.deepEqual(await store.deliveries.claim({ ...CLAIM, now: 2000 }), [
      claimed(sampleDelivery({ deliveryId: 'dlv_2', attempts: 0, dueAt: 2000 })),
    ]);
    assert.deepEqual(await redrive('whk_1', undefined), 1);
    assert.deepEqual(await store.deliveries.deadLetters('whk_1', { limit: 10 }), []);
    assert.deepEqual((await store.deliveries.deadLetters('whk_2', { limit: 10 })).length, 1);
  });
}

/** The claim that `CLAIM` makes on the sample delivery. */
const CLAIMED: Claim = { deliveryId: 'dlv_1', webhookId: 'whk_1', leaseUntil: CLAIM.leaseUntil };

function claimed(delivery: Delivery): ClaimedDelivery {
  return { ...delivery, leaseUntil: CLAIM.leaseUntil };
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
    assert.deepEqual(await store.deliveries.queued('whk_1', ['dlv_1', 'dlv_9']), [expected]);
    assert.deepEqual(await store.deliveries.queued('whk_2', ['dlv_1']), []);
    assert.deepEqual(await enqueueAgain(store, sampleDelivery({ dueAt: 2000 })), 1);
    assert.deepEqual(await store.deliveries.deadLetters('whk_1', { limit: 10 }), []);
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
