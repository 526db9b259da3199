import { covers } from '@svc/tools/covers';
import { afterEach, describe, expect, test } from 'vitest';
import type { ClaimedDelivery } from '../../src/ports/deliveries.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { concurrencyOf } from '../../src/webhooks/concurrency.ts';
import { dispatcher } from '../../src/webhooks/dispatcher.ts';
import type { Place } from '../../src/webhooks/places.ts';
import { virtualClock } from '../simulation/virtual-clock.ts';
import { sampleDelivery, sampleSubscription } from './samples.ts';

const TIMEOUT_MS = 5000;
const TIMEOUT = { kind: 'failed', reason: 'timeout', durationMs: TIMEOUT_MS } as const;
const ANSWER = { kind: 'answered', status: 204, retryAfter: undefined, durationMs: 1 } as const;

const CLEANUP: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of CLEANUP.splice(0)) await stop();
});

/**
 * Starts a dispatcher with the default limits, on a clock of its own. The receivers of subscriptions whose id begins
 * with `hangs` never answer; all others answer at once.
 */
async function world(subscriptions: Readonly<Record<string, string>>, isDurable: boolean) {
  const clock = virtualClock(0);
  const store = memoryStore();
  await store.transaction(async (transaction) => {
    for (const [webhookId, tenant] of Object.entries(subscriptions)) {
      const subscription = sampleSubscription({ webhookId, tenant, durable: isDurable });
      await store.subscriptions.insert(subscription, transaction);
    }
  });
  const begun: { readonly webhookId: string; readonly at: number; readonly lane: string }[] = [];
  const hanging = new Map<string, number>();
  let mostOfOne = 0;

  async function attempt(delivery: ClaimedDelivery, signal: AbortSignal, { lane }: Place) {
    const { webhookId } = delivery;
    const hangs = webhookId.startsWith('hangs');
    begun.push({ webhookId, at: clock.now(), lane });
    if (hangs) {
      hanging.set(webhookId, (hanging.get(webhookId) ?? 0) + 1);
      if (clock.now() > 2 * TIMEOUT_MS) mostOfOne = Math.max(mostOfOne, hanging.get(webhookId) ?? 0);
      await new Promise<void>((resolve, reject) => {
        clock.at(clock.now() + TIMEOUT_MS, resolve);
        signal.addEventListener('abort', () => reject(signal.reason));
      });
      hanging.set(webhookId, (hanging.get(webhookId) ?? 1) - 1);
    }
    const settlement = hangs
      ? ({ kind: 'retry', dueAt: clock.now() + 250, attempts: 1, lastStatus: undefined } as const)
      : ({ kind: 'delivered' } as const);
    await store.transaction((transaction) => store.deliveries.settle([{ claim: delivery, settlement }], transaction));
    return { verdict: hangs ? TIMEOUT : ANSWER, settlement };
  }

  const dispatch = dispatcher({
    queue: store.deliveries,
    clock,
    storeClock: { now: () => clock.now(), read: async () => clock.now(), aheadMs: () => undefined },
    maxDelayMs: 3_600_000,
    log: () => {},
    attempt,
    attemptTimeoutMs: TIMEOUT_MS,
    concurrency: concurrencyOf({ total: 64, perSubscription: 4 }),
  });
  CLEANUP.push(async () => {
    const stopped = dispatch.stop(0);
    await clock.run(clock.now());
    await stopped;
  });
  dispatch.start();
  let deliveries = 0;
  return {
    clock,
    begun,
    /** Lets the time pass until `at`. */
    async until(at: number) {
      clock.at(at, () => {});
      await clock.run(at);
    },
    /** The most attempts at one hanging receiver at a time, after the first time-outs. */
    mostOfOne: () => mostOfOne,
    async enqueue(webhookIds: readonly string[]) {
      const dueAt = clock.now();
      const rows = webhookIds.map((webhookId) =>
        sampleDelivery({ deliveryId: `dlv_${deliveries++}`, webhookId, dueAt }),
      );
      await store.transaction((transaction) => store.deliveries.enqueue(rows, transaction));
      dispatch.wake();
    },
  };
}

const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}_${index}`);
const ofTenant = (tenant: string, webhookIds: readonly string[]) =>
  Object.fromEntries(webhookIds.map((webhookId) => [webhookId, tenant]));

describe.each([
  ['durable', true],
  ['best-effort', false],
])(covers('webhooks.delivery.fair-between-subscriptions'), (mode, isDurable) => {
  test(`forty receivers of one tenant that hang delay no ${mode} delivery of another`, async () => {
    const hanging = ids('hangs', 40);
    const { until, begun, enqueue, mostOfOne } = await world(
      { ...ofTenant('acme', hanging), good: 'globex' },
      isDurable,
    );
    await enqueue(Array.from({ length: 100 }, () => hanging).flat());
    const arrivals = [0, 100, 2500, 4999, 5000, 5001, 12_000, 30_000, 60_000];
    for (const at of arrivals) {
      await until(at);
      await enqueue(['good']);
      await until(at);
    }
    expect(begun.filter(({ webhookId }) => webhookId === 'good').map(({ at }) => at)).toEqual(arrivals);
    expect(mostOfOne()).toBe(1);
  });
});

test('receivers that hang leave places to other receivers of their tenant, once they have timed out', async () => {
  const hanging = ids('hangs', 40);
  const { until, begun, enqueue } = await world(ofTenant('acme', [...hanging, 'good']), true);
  await enqueue(Array.from({ length: 10 }, () => hanging).flat());
  await until(60_000);
  await enqueue(['good']);
  await until(60_000);
  expect(begun.filter(({ webhookId }) => webhookId === 'good').map(({ at }) => at)).toEqual([60_000]);
});

test('ten tenants whose receivers hang leave a place for an eleventh', async () => {
  const tenants = ids('tenant', 10);
  const hanging = Object.assign({}, ...tenants.map((tenant) => ofTenant(tenant, ids(`hangs_${tenant}`, 20))));
  const { until, begun, enqueue } = await world({ ...hanging, good: 'globex' }, true);
  await enqueue(Array.from({ length: 5 }, () => Object.keys(hanging)).flat());
  await until(1000);
  await enqueue(['good']);
  await until(1000);
  expect(begun.at(-1)).toEqual({ webhookId: 'good', at: 1000, lane: 'regular' });
});

test('a tenant beside one whose receivers hang works through its own backlog at once', async () => {
  const hanging = ids('hangs', 40);
  const { until, begun, enqueue } = await world({ ...ofTenant('acme', hanging), good: 'globex' }, true);
  await enqueue(Array.from({ length: 10 }, () => hanging).flat());
  await until(100);
  await enqueue(Array.from({ length: 1000 }, () => 'good'));
  await until(100);
  expect(begun.filter(({ webhookId }) => webhookId === 'good').length).toBe(1000);
});

test('a thousand subscriptions of one tenant that flood delay no other tenant', async () => {
  const crowd = ids('crowd', 1000);
  const { until, begun, enqueue } = await world({ ...ofTenant('acme', crowd), good: 'globex' }, true);
  await enqueue(crowd);
  await enqueue(['good']);
  await until(0);
  const turn = begun.findIndex(({ webhookId }) => webhookId === 'good');
  // The first claim of the crowd may be under way before the other delivery is there.
  expect(turn).toBeGreaterThanOrEqual(0);
  expect(turn).toBeLessThan(2 * 96 + 2);
});
