import type { Claim, ClaimedDelivery, Delivery, Settlement } from '../../ports/deliveries.ts';
import type { Store } from '../../ports/store.ts';
import type { Subscription } from '../../ports/subscriptions.ts';
import type { StoreContract } from './contract.ts';
import {
  CLAIM,
  CLAIMED,
  claimed,
  roomFor,
  sampleDelivery,
  sampleSubscription,
  TENANCY,
  withSubscriptions,
} from './samples.ts';
import { settlementsContract } from './settlements.ts';

/** Tests of `DeliveryQueue`. */
export function deliveriesContract(contract: StoreContract): void {
  claims(contract);
  turns(contract);
  simultaneousClaims(contract);
  settlementsContract(contract);
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
    const found = await store.deliveries.claim({ ...CLAIM, limit: 5, room: roomFor({ perSubscription: 4 }) });
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
    await store.deliveries.release([{ ...CLAIMED, leaseUntil: 2000 }], CLAIM.now);
    assert.deepEqual(await ids(1501), ['dlv_1']);
  });

  onStore('a delivery that is added with a claim belongs to its claimant until the claim ends', async (store) => {
    await withSubscriptions(store, 'whk_1');
    const first = { ...sampleDelivery({}), leaseUntil: 1500 };
    await store.transaction((transaction) => store.deliveries.enqueue([first], transaction));
    assert.deepEqual(await store.deliveries.claim(CLAIM), []);
    assert.deepEqual(await store.deliveries.nextDueAfter(1000), 1500);
    const [taken] = await store.deliveries.claim({ ...CLAIM, now: 1500 });
    assert.deepEqual([taken?.deliveryId, taken?.leaseUntil, taken?.body], ['dlv_1', 9000, first.body]);
    const settled = await store.transaction((transaction) =>
      store.deliveries.settle([{ claim: first, settlement: { kind: 'delivered' } }], transaction),
    );
    assert.deepEqual(settled, [false]);
  });

  onStore('a delivery that is added with a claim is settled or released by its claimant', async (store) => {
    await withSubscriptions(store, 'whk_1');
    const held = (deliveryId: string) => ({ ...sampleDelivery({ deliveryId }), leaseUntil: 9000 });
    const [delivered, failed, released] = [held('dlv_1'), held('dlv_2'), held('dlv_3')];
    await store.transaction((transaction) => store.deliveries.enqueue([delivered, failed, released], transaction));
    const retry = { kind: 'retry', dueAt: 1200, attempts: 1, lastStatus: 500 } as const;
    const settled = await store.transaction((transaction) =>
      store.deliveries.settle(
        [
          { claim: delivered, settlement: { kind: 'delivered' } },
          { claim: failed, settlement: retry },
        ],
        transaction,
      ),
    );
    assert.deepEqual(settled, [true, true]);
    await store.deliveries.release([released], CLAIM.now);
    const ids = async (now: number) =>
      (await store.deliveries.claim({ ...CLAIM, now })).map(({ deliveryId }) => deliveryId);
    assert.deepEqual([await ids(1000), await ids(1200)], [['dlv_3'], ['dlv_2']]);
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

function turns({ onStore, assert }: StoreContract): void {
  /** Adds subscriptions of a tenant, each with a number of due deliveries. */
  async function backlog(store: Store, tenant: string, subscriptions: number, deliveries: number): Promise<void> {
    await store.transaction(async (transaction) => {
      for (let index = 0; index < subscriptions; index++) {
        const webhookId = `whk_${tenant}_${String(index).padStart(4, '0')}`;
        await store.subscriptions.insert(sampleSubscription({ webhookId, tenant }), transaction);
        const due = Array.from({ length: deliveries }, (_, nth) =>
          sampleDelivery({ deliveryId: `dlv_${webhookId}_${nth}`, webhookId }),
        );
        await store.deliveries.enqueue(due, transaction);
      }
    });
  }
  const pause = (store: Store, webhookId: string) =>
    store.transaction((transaction) =>
      store.subscriptions.updateState(
        webhookId,
        ({ circuit, failures }) => ({ status: 'paused', circuit, failures }),
        transaction,
      ),
    );
  const tenants = (claims: readonly ClaimedDelivery[]) => claims.map(({ tenant }) => tenant);

  onStore('tenants take turns, so that the subscriptions of one do not delay another', async (store) => {
    await backlog(store, 'crowded', 40, 3);
    await backlog(store, 'small', 1, 3);
    const found = await store.deliveries.claim({ ...CLAIM, limit: 8 });
    assert.deepEqual(tenants(found).sort(), [...Array(5).fill('crowded'), ...Array(3).fill('small')]);
    assert.deepEqual(new Set(found.map(({ webhookId }) => webhookId)).size, 6);
  });

  onStore(
    'the next claim goes on with the tenant after the last one, and with its next subscription',
    async (store) => {
      for (const tenant of ['a', 'b', 'c']) await backlog(store, tenant, 3, 4);
      const claims = [];
      for (let count = 0; count < 9; count++) claims.push(...(await store.deliveries.claim({ ...CLAIM, limit: 1 })));
      assert.deepEqual(tenants(claims), ['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c']);
      assert.deepEqual(new Set(claims.map(({ webhookId }) => webhookId)).size, 9);
    },
  );

  onStore('a tenant without room is passed over, and a subscription too', async (store) => {
    await backlog(store, 'crowded', 20, 2);
    await backlog(store, 'small', 1, 5);
    const room = roomFor({ perTenant: 4, perSubscription: 3 });
    const found = tenants(await store.deliveries.claim({ ...CLAIM, limit: 20, room }));
    assert.deepEqual(found.filter((tenant) => tenant === 'crowded').length, 4);
    assert.deepEqual(found.filter((tenant) => tenant === 'small').length, 3);
  });

  onStore('every due delivery of a tenant with many subscriptions is claimed, in a few claims', async (store) => {
    await backlog(store, 'crowded', 400, 1);
    await backlog(store, 'small', 1, 1);
    const found: ClaimedDelivery[] = [];
    for (let count = 0; count < 12; count++) {
      found.push(...(await store.deliveries.claim({ ...CLAIM, limit: 50 })));
      if (count === 0) assert.deepEqual(tenants(found).includes('small'), true);
    }
    assert.deepEqual(new Set(found.map(({ deliveryId }) => deliveryId)).size, 401);
  });

  onStore('paused and waiting subscriptions do not hide a due one of their tenant', async (store) => {
    await backlog(store, 'crowded', 300, 2);
    for (let index = 0; index < 299; index++) await pause(store, `whk_crowded_${String(index).padStart(4, '0')}`);
    const found: ClaimedDelivery[] = [];
    // A store may look at a part of the subscriptions in each claim. It then says that it has to go on soon.
    for (let now = CLAIM.now, count = 0; found.length < 2 && count < 50; count++) {
      found.push(...(await store.deliveries.claim({ ...CLAIM, now, limit: 50 })));
      if (found.length < 2) now = (await store.deliveries.nextDueAfter(now)) ?? now;
    }
    assert.deepEqual(
      found.map(({ webhookId }) => webhookId),
      ['whk_crowded_0299', 'whk_crowded_0299'],
    );
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
    await store.deliveries.release([lost], CLAIM.now);
    assert.deepEqual(await claimAt(1600), []);
    assert.deepEqual(await settled(stands, { kind: 'retry', dueAt: 1700, attempts: 1, lastStatus: 500 }), [true]);
    // This claim has ended too.
    assert.deepEqual(await settled(stands, { kind: 'delivered' }), [false]);
    assert.deepEqual(await claimAt(1700), [2200]);
  });

  onStore('no delivery waits longer than the limit, and dead letters stay as they are', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await store.transaction((transaction) =>
      store.deliveries.enqueue(
        [
          sampleDelivery({ deliveryId: 'in-time', dueAt: 1900 }),
          sampleDelivery({ deliveryId: 'dead', dueAt: 1000 }),
          sampleDelivery({ deliveryId: 'too-late', dueAt: 86_400_000 }),
        ],
        transaction,
      ),
    );
    const idsAt = async (now: number) =>
      (await store.deliveries.claim({ ...CLAIM, now, leaseUntil: now + 500 })).map(({ deliveryId }) => deliveryId);
    const settlement = { kind: 'dead', at: 1, expiresAt: 90_000_000, attempts: 3, lastStatus: 500 } as const;
    const claim = { deliveryId: 'dead', webhookId: 'whk_1', leaseUntil: 1500 };
    assert.deepEqual(await idsAt(1000), ['dead']);
    await store.transaction((transaction) => store.deliveries.settle([{ claim, settlement }], transaction));
    for (const dueBy of [1950, 2000]) await store.deliveries.limitWaits({ dueBy, leaseUntil: 9000 });
    assert.deepEqual(await idsAt(1899), []);
    assert.deepEqual(await idsAt(1900), ['in-time']);
    // A store may wait for the earlier delivery before it looks at the later one.
    await store.deliveries.limitWaits({ dueBy: 2000, leaseUntil: 9000 });
    assert.deepEqual(await idsAt(1949), []);
    assert.deepEqual(await idsAt(2000), ['too-late']);
    const [letter] = await store.deliveries.deadLetters('whk_1', { limit: 10, now: 1000 });
    assert.deepEqual(letter?.expiresAt, 90_000_000);
  });

  onStore('a claim within the limit stays with its holder', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await store.transaction((transaction) => store.deliveries.enqueue([sampleDelivery({})], transaction));
    const [held] = await store.deliveries.claim({ ...CLAIM, now: 1000, leaseUntil: 500_000 });
    if (held === undefined) throw new Error('The delivery is due.');
    await store.deliveries.limitWaits({ dueBy: 1000, leaseUntil: 1500 });
    const [settled] = await store.transaction((transaction) =>
      store.deliveries.settle([{ claim: held, settlement: { kind: 'delivered' } }], transaction),
    );
    assert.deepEqual(settled, true);
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
    assert.deepEqual((await store.deliveries.deadLetters('whk_2', { limit: 10, now: 1000 })).length, 1);
    assert.deepEqual(await store.deliveries.nextDueAfter(CLAIM.leaseUntil - 1), CLAIM.leaseUntil);
  });
}
