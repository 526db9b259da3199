import { covers } from '@svc/tools/covers';
import { afterEach, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/ports/clock.ts';
import type { Store } from '../../src/ports/store.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { type Dispatcher, dispatcher } from '../../src/webhooks/dispatcher.ts';
import { virtualClock } from '../simulation/virtual-clock.ts';
import { sampleDelivery, sampleSubscription } from './samples.ts';

const running: Dispatcher[] = [];
afterEach(async () => {
  for (const dispatch of running.splice(0)) await dispatch.stop(0);
});

/** A dispatcher over the memory store whose attempts end when the test says so. */
async function started(webhookIds: readonly string[], concurrency: { total: number; perSubscription: number }) {
  const store: Store = memoryStore();
  await store.transaction(async (transaction) => {
    for (const webhookId of webhookIds)
      await store.subscriptions.insert(sampleSubscription({ webhookId }), transaction);
  });
  const begun: string[] = [];
  const aborted: string[] = [];
  const finish = new Map<string, () => void>();
  const dispatch = dispatcher({
    queue: store.deliveries,
    clock: systemClock,
    log: () => {},
    concurrency,
    attemptTimeoutMs: 1000,
    async attempt(delivery, signal) {
      const { deliveryId } = delivery;
      begun.push(deliveryId);
      await new Promise<void>((resolve, reject) => {
        finish.set(deliveryId, resolve);
        signal.addEventListener('abort', () => {
          aborted.push(deliveryId);
          reject(signal.reason);
        });
      });
      await store.transaction((transaction) =>
        store.deliveries.settle([{ claim: delivery, settlement: { kind: 'delivered' } }], transaction),
      );
    },
  });
  running.push(dispatch);
  dispatch.start();
  const enqueue = async (...deliveries: readonly [id: string, webhookId: string][]) => {
    const rows = deliveries.map(([deliveryId, webhookId]) => sampleDelivery({ deliveryId, webhookId }));
    await store.transaction((transaction) => store.deliveries.enqueue(rows, transaction));
    dispatch.wake();
    await settled();
  };
  const end = async (deliveryId: string) => {
    finish.get(deliveryId)?.();
    await settled();
  };
  return { store, dispatch, begun, aborted, enqueue, end };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

describe(covers('webhooks.delivery.fair-between-subscriptions', 'webhooks.delivery.in-flight-cap'), () => {
  test('a receiver that hangs holds its own share, and no one else up', async () => {
    const { enqueue, begun, end } = await started(['whk_1', 'whk_2'], { total: 4, perSubscription: 2 });
    await enqueue(['a1', 'whk_1'], ['a2', 'whk_1'], ['a3', 'whk_1']);
    expect(begun).toEqual(['a1', 'a2']);
    await enqueue(['b1', 'whk_2']);
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    await end('a1');
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
  });

  test('never more attempts at a time than allowed in all', async () => {
    const ids = ['whk_1', 'whk_2', 'whk_3'];
    const { enqueue, begun, end } = await started(ids, { total: 2, perSubscription: 2 });
    await enqueue(['a', 'whk_1'], ['b', 'whk_2'], ['c', 'whk_3']);
    expect(begun.length).toBe(2);
    await end(begun[0] ?? '');
    expect(begun.length).toBe(3);
  });
});

test('what is under way for a removed subscription is aborted', async () => {
  const { dispatch, enqueue, aborted } = await started(['whk_1', 'whk_2'], { total: 4, perSubscription: 2 });
  await enqueue(['a', 'whk_1'], ['b', 'whk_2']);
  dispatch.forget('whk_1');
  expect(aborted).toEqual(['a']);
});

test('a stop hands back what did not end in time', async () => {
  const { dispatch, store, enqueue } = await started(['whk_1'], { total: 4, perSubscription: 2 });
  await enqueue(['a', 'whk_1']);
  await dispatch.stop(10);
  const now = Date.now();
  const claimed = await store.deliveries.claim({ now, leaseUntil: now + 1, limit: 9, capacityOf: () => 9 });
  expect(claimed.map(({ deliveryId }) => deliveryId)).toEqual(['a']);
});

describe('an attempt whose outcome cannot be written down', () => {
  async function failing(clock: Clock) {
    const store = memoryStore();
    await store.transaction(async (transaction) => {
      await store.subscriptions.insert(sampleSubscription({}), transaction);
      await store.deliveries.enqueue([sampleDelivery({})], transaction);
    });
    const attempts: number[] = [];
    const dispatch = dispatcher({
      queue: store.deliveries,
      clock,
      log: () => {},
      concurrency: { total: 4, perSubscription: 2 },
      attemptTimeoutMs: 1000,
      async attempt() {
        attempts.push(clock.now());
        throw new Error('the disk is full');
      },
    });
    running.push(dispatch);
    dispatch.start();
    return { store, dispatch, attempts };
  }

  test('is repeated, and not as fast as the store fails', async () => {
    const world = virtualClock(0);
    const { attempts } = await failing(world);
    while (await world.step(60_000));
    expect(attempts.length).toBeGreaterThan(3);
    expect(attempts.length).toBeLessThan(20);
  });

  test('is handed back at once by a host that stops', async () => {
    const { store, dispatch, attempts } = await failing(systemClock);
    await expect.poll(() => attempts.length).toBe(1);
    const began = Date.now();
    await dispatch.stop(10_000);
    expect(Date.now() - began).toBeLessThan(2000);
    const now = Date.now();
    const claimed = await store.deliveries.claim({ now, leaseUntil: now + 1, limit: 9, capacityOf: () => 9 });
    expect(claimed.length).toBe(1);
  });
});
