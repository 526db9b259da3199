import { chance } from '@svc/tools/chance';
import { afterEach, describe, expect, test } from 'vitest';
import type { Delivery, Settlement } from '../../src/ports/deliveries.ts';
import { storeClock } from '../../src/ports/store-clock.ts';
import type { Subscription } from '../../src/ports/subscriptions.ts';
import type { Transaction } from '../../src/ports/transaction.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { ANY_ROOM } from '../../src/testing/store-contract/samples.ts';
import { dispatcher } from '../../src/webhooks/dispatcher.ts';
import { virtualClock } from '../simulation/virtual-clock.ts';
import { sampleDelivery, sampleSubscription } from './samples.ts';

const CLEANUP: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of CLEANUP.splice(0)) await stop();
});

const TIMEOUT = { kind: 'failed', reason: 'timeout', durationMs: 1000 } as const;
const ANSWER = { kind: 'answered', status: 204, retryAfter: undefined, durationMs: 1 } as const;

interface Ended {
  readonly settlement: Settlement;
  readonly verdict: typeof ANSWER | typeof TIMEOUT;
}

interface Setting {
  readonly subscriptions?: readonly Partial<Subscription>[];
  readonly perSubscription?: number;
  readonly total?: number;
  readonly isStarted?: boolean;
  readonly held?: { isHeld(webhookId: string): boolean; nextEnd(): undefined };
}

/** Starts a dispatcher over the memory store. Its attempts end when the test says so, and how. */
async function started({
  subscriptions = [{}],
  perSubscription = 2,
  total = 4,
  isStarted = true,
  held = { isHeld: () => false, nextEnd: () => undefined },
}: Setting = {}) {
  const world = virtualClock(0);
  const store = memoryStore();
  const known = new Map(subscriptions.map((fields) => [fields.webhookId ?? 'whk_1', sampleSubscription(fields)]));
  await store.transaction(async (transaction) => {
    for (const subscription of known.values()) await store.subscriptions.insert(subscription, transaction);
  });
  let claims = 0;
  let answer = Promise.resolve();
  const begun: string[] = [];
  const finish = new Map<string, (ended: Ended) => void>();
  const dispatch = dispatcher({
    queue: {
      ...store.deliveries,
      async claim(request) {
        claims += 1;
        const claimed = await store.deliveries.claim(request);
        await answer;
        return claimed;
      },
    },
    clock: world,
    storeClock: storeClock({ clock: world, store, log: () => {} }),
    log: () => {},
    maxDelayMs: 30_000,
    attemptTimeoutMs: 1000,
    held,
    concurrency: { total, perTenant: total, perSubscription },
    async attempt(delivery, signal) {
      begun.push(delivery.deliveryId);
      const ended = await new Promise<Ended>((resolve, reject) => {
        finish.set(delivery.deliveryId, resolve);
        signal.addEventListener('abort', () => reject(signal.reason));
      });
      await store.transaction((transaction) =>
        store.deliveries.settle([{ claim: delivery, settlement: ended.settlement }], transaction),
      );
      return ended;
    },
  });
  const settle = () => world.run(world.now());
  CLEANUP.push(async () => {
    const stopped = dispatch.stop(0);
    await settle();
    await stopped;
  });
  if (isStarted) dispatch.start();
  await settle();

  return {
    world,
    store,
    dispatch,
    begun,
    settle,
    claims: () => claims,
    /** Delays the answers of claims until the returned function is called. */
    delayClaims() {
      let resume = () => {};
      answer = new Promise((resolve) => {
        resume = resolve;
      });
      CLEANUP.unshift(async () => resume());
      return () => resume();
    },
    /** Adds deliveries as an append does. Returns the ids of those that were handed over. */
    async append(deliveries: readonly Partial<Delivery>[], { isCommitted = true } = {}): Promise<readonly string[]> {
      const added = deliveries.map((fields) => sampleDelivery({ dueAt: world.now(), ...fields }));
      const handedOver: string[] = [];
      await store
        .transaction(async (transaction) => {
          const rows = added.map((delivery) => {
            const subscription = known.get(delivery.webhookId) ?? sampleSubscription(delivery);
            const leaseUntil = dispatch.handOver.claim(delivery, subscription, transaction);
            if (leaseUntil !== undefined) handedOver.push(delivery.deliveryId);
            return { ...delivery, leaseUntil };
          });
          await store.deliveries.enqueue(rows, transaction);
          if (!isCommitted) throw new Error('undone');
          return transaction;
        })
        .then(
          (transaction) => {
            dispatch.handOver.committed(transaction);
            for (const event of added) dispatch.handOver.appended(event);
          },
          () => {},
        );
      await settle();
      return handedOver;
    },
    /** Adds deliveries as another host does. */
    async appendElsewhere(deliveries: readonly Partial<Delivery>[]) {
      const added = deliveries.map((fields) => sampleDelivery({ dueAt: world.now(), ...fields }));
      await store.transaction((transaction) => store.deliveries.enqueue(added, transaction));
    },
    async end(deliveryId: string, settlement: Settlement = { kind: 'delivered' }) {
      finish.get(deliveryId)?.({ settlement, verdict: settlement.kind === 'delivered' ? ANSWER : TIMEOUT });
      await settle();
    },
  };
}

const named = (...ids: readonly string[]) => ids.map((deliveryId) => ({ deliveryId }));
const many = (count: number, from = 0) => named(...Array.from({ length: count }, (_, index) => `d${from + index}`));

test('new deliveries are attempted without a claim of the queue', async () => {
  const { append, begun, end, claims } = await started();
  const before = claims();
  expect(await append(named('a', 'b', 'c'))).toEqual(['a', 'b', 'c']);
  expect(begun).toEqual(['a', 'b']);
  for (const id of ['a', 'b', 'c']) await end(id);
  expect([begun, claims()]).toEqual([['a', 'b', 'c'], before]);
});

test('nothing of a transaction that is undone is attempted', async () => {
  const { append, begun } = await started();
  await append(named('a'), { isCommitted: false });
  expect(begun).toEqual([]);
});

test('deliveries of a transaction whose commit was not answered are attempted when their claims end', async () => {
  const { world, store, dispatch, settle, begun } = await started();
  let transaction: Transaction | undefined;
  await store.transaction(async (opened) => {
    transaction = opened;
    const delivery = sampleDelivery({});
    const leaseUntil = dispatch.handOver.claim(delivery, sampleSubscription({}), opened);
    await store.deliveries.enqueue([{ ...delivery, leaseUntil }], opened);
  });
  if (transaction !== undefined) dispatch.handOver.failed(transaction);
  await settle();
  await world.run(15_999);
  expect(begun).toEqual([]);
  await world.run(16_001);
  expect(begun).toEqual(['dlv_1']);
});

test('a delivery that was handed over and failed is attempted again when it is due', async () => {
  const { world, append, begun, end } = await started();
  await append(named('a'));
  await end('a', { kind: 'retry', dueAt: 700, attempts: 1, lastStatus: undefined });
  await world.run(699);
  expect(begun).toEqual(['a']);
  await world.run(701);
  expect(begun).toEqual(['a', 'a']);
});

test('a delivery that no attempt has begun within 5 s goes to the queue, and is claimed from there', async () => {
  const { world, dispatch, append, begun, end, claims } = await started({ perSubscription: 1 });
  await append(named('a', 'b'));
  const before = claims();
  await world.run(5001);
  expect(dispatch.handedOver()).toEqual({ due: 0, oldestDueAt: undefined });
  expect(claims()).toBeGreaterThan(before);
  await end('a');
  expect(begun).toEqual(['a', 'b']);
});

test('what was handed over and has not begun counts as due', async () => {
  const { append, dispatch } = await started({ subscriptions: [{}, { webhookId: 'other' }], perSubscription: 1 });
  await append([
    ...named('a', 'b', 'c'),
    { deliveryId: 'd', webhookId: 'other' },
    { deliveryId: 'e', webhookId: 'other' },
  ]);
  expect(dispatch.handedOver()).toEqual({ due: 3, oldestDueAt: 0 });
  expect(dispatch.handedOver(['other'])).toEqual({ due: 1, oldestDueAt: 0 });
});

describe('deliveries go to the queue', () => {
  test('before the host starts and after it has stopped', async () => {
    const { dispatch, append, settle } = await started({ isStarted: false });
    expect(await append(named('a'))).toEqual([]);
    dispatch.start();
    await settle();
    expect(await append(named('b'))).toEqual(['b']);
    const stopped = dispatch.stop(0);
    await settle();
    await stopped;
    expect(await append(named('c'))).toEqual([]);
  });

  test('of a subscription that is paused, that timed out, or whose deliveries are held', async () => {
    const { append, end } = await started({
      subscriptions: [{ webhookId: 'paused', status: 'paused' }, { webhookId: 'slow' }, { webhookId: 'held' }],
      held: { isHeld: (webhookId) => webhookId === 'held', nextEnd: () => undefined },
    });
    await append([{ deliveryId: 's', webhookId: 'slow' }]);
    await end('s', { kind: 'retry', dueAt: 90_000, attempts: 1, lastStatus: undefined });
    const webhookIds = ['paused', 'slow', 'held'];
    expect(await append(webhookIds.map((webhookId) => ({ deliveryId: webhookId, webhookId })))).toEqual([]);
  });

  test('as long as earlier ones of their subscription wait there', async () => {
    const { append, appendElsewhere, dispatch, settle, begun, end } = await started({ perSubscription: 1 });
    await appendElsewhere(named('a', 'b', 'c'));
    dispatch.wake();
    await settle();
    expect(await append(named('d'))).toEqual([]);
    for (const id of ['a', 'b', 'c', 'd']) await end(id);
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    expect(await append(named('e'))).toEqual(['e']);
  });

  test('also when the earlier ones were left there while a claim was under way', async () => {
    const { append, delayClaims, dispatch, settle, begun, end } = await started();
    const answer = delayClaims();
    dispatch.wake();
    await settle();
    // Too long to be handed over. The claim does not see it.
    expect(await append([{ deliveryId: 'left', body: new Uint8Array(17 * 1024 * 1024) }])).toEqual([]);
    const answerNext = delayClaims();
    answer();
    await settle();
    expect(await append(named('next'))).toEqual([]);
    answerNext();
    await settle();
    for (const id of ['left', 'next']) await end(id);
    expect(begun).toEqual(['left', 'next']);
  });

  test('beyond 256 of a subscription, and then in their order', async () => {
    const { append, begun, end, store, world } = await started({ perSubscription: 1 });
    expect((await append(many(300))).length).toBe(256);
    expect((await append(named('later'))).length).toBe(0);
    const ids = [...many(300).map(({ deliveryId }) => deliveryId), 'later'];
    for (const id of ids) await end(id);
    expect(begun).toEqual(ids);
    expect(await store.deliveries.nextDueAfter(world.now() - 1)).toBeUndefined();
  });

  test('beyond three quarters of 8192 for one tenant, and beyond 16 MiB', async () => {
    const subscriptions = Array.from({ length: 40 }, (_, index) => ({
      webhookId: `whk_${index}`,
      tenant: index === 39 ? 'other' : 'acme',
    }));
    const { append } = await started({ subscriptions });
    const rows = many(7000).map(({ deliveryId }, index) => ({ deliveryId, webhookId: `whk_${index % 39}` }));
    expect((await append(rows)).length).toBe(6144);
    // The rest is for other tenants.
    expect(await append([{ deliveryId: 'other', webhookId: 'whk_39' }])).toEqual(['other']);
    const big = await started({ subscriptions });
    const body = new Uint8Array(1024 * 1024);
    const bodies = many(20).map(({ deliveryId }, index) => ({ deliveryId, webhookId: `whk_${index}`, body }));
    expect((await big.append(bodies)).length).toBe(16);
  });
});

test('a stop releases what has not begun', async () => {
  const { dispatch, append, store, world, settle, end } = await started({ perSubscription: 1 });
  await append(named('a', 'b'));
  const stopped = dispatch.stop(10_000);
  await settle();
  const claimed = await store.deliveries.claim({ now: world.now(), leaseUntil: 9000, limit: 9, room: ANY_ROOM });
  expect(claimed.map(({ deliveryId }) => deliveryId)).toEqual(['b']);
  await end('a');
  await stopped;
});

test('a receiver that hangs, with much handed over for it, does not hold up what waits in the queue for another', async () => {
  const subscriptions = [{}, { webhookId: 'other' }];
  const { append, appendElsewhere, dispatch, settle, begun, end, world } = await started({
    subscriptions,
    total: 8,
    perSubscription: 2,
  });
  await append(many(200));
  const waiting = Array.from({ length: 20 }, (_, index) => ({ deliveryId: `o${index}`, webhookId: 'other' }));
  await appendElsewhere(waiting.slice(0, 19));
  dispatch.wake();
  await settle();
  // Left to the queue, because others are due there.
  expect(await append(waiting.slice(19))).toEqual([]);
  for (const { deliveryId } of waiting) await end(deliveryId);
  expect([world.now(), begun]).toEqual([0, ['d0', 'd1', ...waiting.map(({ deliveryId }) => deliveryId)]]);
});

test('deliveries that were handed over leave room for those of other tenants in the queue', async () => {
  const { append, appendElsewhere, dispatch, settle, begun, end } = await started({
    subscriptions: [{}, { webhookId: 'other', tenant: 'quiet' }],
    perSubscription: 4,
  });
  await append(many(200));
  await appendElsewhere([{ deliveryId: 'quiet', webhookId: 'other' }]);
  dispatch.wake();
  await settle();
  await end('d0');
  await end('d1');
  expect(begun).toEqual(['d0', 'd1', 'd2', 'd3', 'd4', 'quiet']);
});

test.each(Array.from({ length: 10 }, (_, seed) => seed))(
  'every delivery is attempted once, and those of a subscription in their order, seed %i',
  async (seed) => {
    const luck = chance(seed);
    const webhookIds = ['whk_1', 'whk_2', 'whk_3'];
    const { append, appendElsewhere, dispatch, settle, begun, end } = await started({
      subscriptions: webhookIds.map((webhookId) => ({ webhookId })),
      perSubscription: 1,
      total: 2,
    });
    const appended: Partial<Delivery>[] = [];
    const elsewhere: Partial<Delivery>[] = [];
    const open = () => begun.filter((id) => !ended.has(id));
    const ended = new Set<string>();
    for (let step = 0; step < 30; step++) {
      const count = luck.happens(0.05) ? 300 : luck.below(4);
      const rows = Array.from({ length: count }, (_, index) => ({
        deliveryId: `${step}.${index}`,
        webhookId: webhookIds[luck.below(3)] ?? 'whk_1',
      }));
      if (luck.happens(0.2)) {
        elsewhere.push(...rows);
        await appendElsewhere(rows);
        dispatch.wake();
        await settle();
      } else {
        appended.push(...rows);
        await append(rows);
      }
      for (const id of open()) {
        if (luck.happens(0.2)) continue;
        ended.add(id);
        await end(id);
      }
    }
    for (let left = open(); left.length > 0; left = open()) {
      for (const id of left) {
        ended.add(id);
        await end(id);
      }
    }
    expect(begun.toSorted()).toEqual([...appended, ...elsewhere].map(({ deliveryId }) => deliveryId).toSorted());
    for (const webhookId of webhookIds) {
      const own = appended.filter((each) => each.webhookId === webhookId).map(({ deliveryId }) => deliveryId);
      expect(begun.filter((id) => own.includes(id))).toEqual(own);
    }
  },
);
