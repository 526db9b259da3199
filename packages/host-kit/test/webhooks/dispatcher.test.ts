import { once } from 'node:events';
import { covers } from '@svc/tools/covers';
import { afterEach, describe, expect, test } from 'vitest';
import type { Store } from '../../src/ports/store.ts';
import { storeClock } from '../../src/ports/store-clock.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { ANY_ROOM, TENANCY } from '../../src/testing/store-contract/samples.ts';
import { type DispatcherOptions, dispatcher } from '../../src/webhooks/dispatcher.ts';
import { type VirtualClock, virtualClock } from '../simulation/virtual-clock.ts';
import { sampleDelivery, sampleSubscription } from './samples.ts';

const CLEANUP: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of CLEANUP.splice(0)) await stop();
});

/** Starts a dispatcher over a store. Its clock stands still: `settle` lets everything happen that is due now. */
function begin(world: VirtualClock, store: Store, options: Pick<DispatcherOptions, 'attempt' | 'concurrency'>) {
  const dispatch = dispatcher({
    queue: store.deliveries,
    clock: world,
    storeClock: storeClock({ clock: world, store, log: () => {} }),
    log: () => {},
    maxDelayMs: 30_000,
    attemptTimeoutMs: 1000,
    ...options,
  });
  const settle = () => world.run(world.now());
  CLEANUP.push(async () => {
    const stopped = dispatch.stop(0);
    await settle();
    await stopped;
  });
  dispatch.start();
  return { dispatch, settle };
}

async function claimable(store: Store, now: number): Promise<readonly string[]> {
  const claimed = await store.deliveries.claim({ now, leaseUntil: now + 1, limit: 9, room: ANY_ROOM });
  return claimed.map(({ deliveryId }) => deliveryId);
}

/** Starts a dispatcher over the memory store whose attempts end when the test says so. */
async function started(webhookIds: readonly string[], limits: { total: number; perSubscription: number }) {
  const world = virtualClock(0);
  const store = memoryStore();
  await store.transaction(async (transaction) => {
    for (const webhookId of webhookIds)
      await store.subscriptions.insert(sampleSubscription({ webhookId }), transaction);
  });
  const begun: string[] = [];
  const aborted: string[] = [];
  const finish = new Map<string, () => void>();
  const { dispatch, settle } = begin(world, store, {
    concurrency: { perTenant: limits.total, ...limits },
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
      return undefined;
    },
  });
  const enqueue = async (...deliveries: readonly [id: string, webhookId: string][]) => {
    const rows = deliveries.map(([deliveryId, webhookId]) => sampleDelivery({ deliveryId, webhookId }));
    await store.transaction((transaction) => store.deliveries.enqueue(rows, transaction));
    dispatch.wake();
    await settle();
  };
  const end = async (deliveryId: string) => {
    finish.get(deliveryId)?.();
    await settle();
  };
  return { world, store, dispatch, begun, aborted, enqueue, end };
}

describe(covers('webhooks.delivery.fair-between-subscriptions', 'webhooks.delivery.in-flight-cap'), () => {
  test('a receiver that hangs takes up its own slots alone', async () => {
    const { enqueue, begun, end } = await started(['whk_1', 'whk_2'], { total: 4, perSubscription: 2 });
    await enqueue(['a1', 'whk_1'], ['a2', 'whk_1'], ['a3', 'whk_1']);
    expect(begun).toEqual(['a1', 'a2']);
    await enqueue(['b1', 'whk_2']);
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    await end('a1');
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
  });

  test('attempts under way never exceed the limit for all subscriptions', async () => {
    const ids = ['whk_1', 'whk_2', 'whk_3'];
    const { enqueue, begun, end } = await started(ids, { total: 2, perSubscription: 2 });
    await enqueue(['a', 'whk_1'], ['b', 'whk_2'], ['c', 'whk_3']);
    expect(begun.length).toBe(2);
    await end(begun[0] ?? '');
    expect(begun.length).toBe(3);
  });
});

test('claims more before its slots run dry, without a wake-up from outside', async () => {
  const { enqueue, begun, end } = await started(['whk_1'], { total: 2, perSubscription: 2 });
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
  await enqueue(...ids.map((id): [string, string] => [id, 'whk_1']));
  for (const id of ids) await end(id);
  expect(begun).toEqual(ids);
});

test('releases a claim that waited too long for a slot, instead of beginning its attempt', async () => {
  const { world, store, begun, enqueue, end } = await started(['whk_1'], { total: 1, perSubscription: 1 });
  await enqueue(['a', 'whk_1'], ['b', 'whk_1']);
  expect(begun).toEqual(['a']);
  expect(await claimable(store, world.now())).toEqual([]);
  const claimedAt = world.now();
  world.at(claimedAt + 5001, () => {});
  await world.run(claimedAt + 5001);
  await end('a');
  // Claimed anew: the lease of the first claim would end at 16 000 ms.
  expect(begun).toEqual(['a', 'b']);
  expect(await store.deliveries.nextDueAfter(16_000)).toBe(5001 + 5000 + 1000 + 10_000);
});

test('aborts the attempts of a removed subscription, and begins none of its claims', async () => {
  const concurrency = { total: 4, perSubscription: 1 };
  const { store, dispatch, enqueue, end, begun, aborted } = await started(['whk_1', 'whk_2'], concurrency);
  await enqueue(['a1', 'whk_1'], ['a2', 'whk_1'], ['b', 'whk_2']);
  await store.transaction((transaction) => store.subscriptions.remove(TENANCY, 'whk_1', transaction));
  dispatch.forget('whk_1');
  expect(aborted).toEqual(['a1']);
  await end('b');
  expect(begun).toEqual(['a1', 'b']);
});

test('a stop aborts an attempt after the time of grace, and releases its claim', async () => {
  const { world, dispatch, store, enqueue, aborted } = await started(['whk_1'], { total: 4, perSubscription: 2 });
  await enqueue(['a', 'whk_1']);
  const stopped = dispatch.stop(10_000);
  await world.run(9999);
  expect(aborted).toEqual([]);
  await world.run(10_000);
  await stopped;
  expect(aborted).toEqual(['a']);
  expect(await claimable(store, world.now())).toEqual(['a']);
});

test('a stop releases claims that have not begun at once', async () => {
  const { world, dispatch, store, enqueue, begun, end } = await started(['whk_1'], { total: 1, perSubscription: 1 });
  await enqueue(['a', 'whk_1'], ['b', 'whk_1']);
  const stopped = dispatch.stop(10_000);
  await world.run(world.now());
  expect(await claimable(store, world.now())).toEqual(['b']);
  await end('a');
  await stopped;
  expect(begun).toEqual(['a']);
});

describe('an attempt whose outcome cannot be stored', () => {
  async function failing() {
    const world = virtualClock(0);
    const store = memoryStore();
    await store.transaction(async (transaction) => {
      await store.subscriptions.insert(sampleSubscription({}), transaction);
      await store.deliveries.enqueue([sampleDelivery({})], transaction);
    });
    const attempts: number[] = [];
    const { dispatch, settle } = begin(world, store, {
      concurrency: { total: 4, perTenant: 4, perSubscription: 2 },
      async attempt(_delivery, signal) {
        attempts.push(world.now());
        // An endless loop without a pause fails the test instead of hanging it.
        if (attempts.length > 100) await once(signal, 'abort');
        throw new Error('the disk is full');
      },
    });
    return { world, store, dispatch, settle, attempts };
  }

  test('is repeated every 5 s', async () => {
    const { world, attempts } = await failing();
    await world.run(20_000);
    expect(attempts).toEqual([0, 5000, 10_000, 15_000, 20_000]);
  });

  test('is released at once by a host that stops', async () => {
    const { world, store, dispatch, settle, attempts } = await failing();
    await settle();
    expect(attempts).toEqual([0]);
    expect(await claimable(store, world.now())).toEqual([]);
    // The clock stands still, so the stop would hang if it waited for the pause or for the time of grace.
    await dispatch.stop(10_000);
    expect(await claimable(store, world.now())).toEqual(['dlv_1']);
  });
});
