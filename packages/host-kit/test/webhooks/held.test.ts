import { expect, test } from 'vitest';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { dispatcher } from '../../src/webhooks/dispatcher.ts';
import { heldSubscriptions } from '../../src/webhooks/held.ts';
import { virtualClock } from '../simulation/virtual-clock.ts';
import { sampleDelivery, sampleSubscription } from './samples.ts';

test('holds a subscription for 30 s from its first delivery, and tells when the next hold ends', () => {
  const held = heldSubscriptions();
  expect([held.hold('a', 0), held.hold('a', 10_000), held.hold('b', 20_000)]).toEqual([true, false, true]);
  expect([held.isHeld('a', 29_999), held.isHeld('a', 30_000), held.isHeld('c', 0)]).toEqual([true, false, false]);
  expect([held.nextEnd(0), held.nextEnd(30_000), held.nextEnd(50_000)]).toEqual([30_000, 50_000, undefined]);
});

test('a clock that is set back ends a hold instead of prolonging it', () => {
  const held = heldSubscriptions();
  held.hold('a', 3_600_000);
  expect(held.isHeld('a', 0)).toBe(false);
});

test('a dispatcher tries a held subscription every 30 s, and the others at once', async () => {
  const world = virtualClock(0);
  const store = memoryStore();
  const held = heldSubscriptions();
  const enqueue = (deliveryId: string, webhookId: string) =>
    store.transaction((transaction) =>
      store.deliveries.enqueue([sampleDelivery({ deliveryId, webhookId, dueAt: world.now() })], transaction),
    );
  await store.transaction(async (transaction) => {
    for (const webhookId of ['signed', 'unsigned'])
      await store.subscriptions.insert(sampleSubscription({ webhookId }), transaction);
  });
  await enqueue('dlv_1', 'unsigned');
  await enqueue('dlv_2', 'signed');
  const begun: [string, number][] = [];
  const dispatch = dispatcher({
    queue: store.deliveries,
    clock: world,
    storeClock: { now: () => world.now(), read: async () => world.now(), aheadMs: () => undefined },
    maxDelayMs: 60_000,
    log: () => {},
    attemptTimeoutMs: 1000,
    concurrency: { total: 4, perTenant: 3, perSubscription: 2 },
    held,
    async attempt(delivery) {
      begun.push([delivery.deliveryId, world.now()]);
      if (delivery.webhookId === 'unsigned') {
        held.hold(delivery.webhookId, world.now());
        await store.deliveries.release([delivery], world.now());
        return;
      }
      const settlement = { kind: 'delivered' } as const;
      await store.transaction((transaction) => store.deliveries.settle([{ claim: delivery, settlement }], transaction));
    },
  });
  dispatch.start();
  // Moves the clock, which stands still between timers.
  world.at(10_000, () => {});
  await world.run(10_000);
  await enqueue('dlv_3', 'signed');
  dispatch.wake();
  await world.run(65_000);
  const stopped = dispatch.stop(0);
  await world.run(66_000);
  await stopped;
  expect(begun.filter(([deliveryId]) => deliveryId !== 'dlv_1')).toEqual([
    ['dlv_2', 0],
    ['dlv_3', 10_000],
  ]);
  expect(begun.filter(([deliveryId]) => deliveryId === 'dlv_1').map(([, at]) => at)).toEqual([0, 30_000, 60_000]);
});
