import { expect, test } from 'vitest';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { forgetExpiredAnswers } from '../../src/webhooks/forget-answers.ts';
import { forgetOldSeries } from '../../src/webhooks/forget-series.ts';
import { sampleSubscription } from './samples.ts';

const MINUTE = 60_000;
const goOn = new AbortController().signal;
const ALL = { from: 0, until: 3000 * MINUTE, stepMs: MINUTE };

/** A store with 2500 minutes and 700 captured answers of one subscription each, which expire one after another. */
async function filled() {
  const store = memoryStore();
  const counts = { delivered: 1, failed: 0, deadLettered: 0, skipped: 0, durationMs: 1, latency: [1] };
  await store.transaction(async (transaction) => {
    const minutes = Array.from({ length: 2500 }, (_, index) => ({
      webhookId: 'whk_1',
      minute: index * MINUTE,
      ...counts,
    }));
    await store.deliverySeries.add(minutes, transaction);
    for (let index = 0; index < 700; index++) {
      const webhookId = `whk_${index}`;
      await store.subscriptions.insert(sampleSubscription({ webhookId }), transaction);
      const place = { webhookId, deliveryId: 'dlv_1', attempt: 1, at: 0 };
      await store.capturedAnswers.add([{ ...place, expiresAt: index, sealed: Uint8Array.of(1) }], transaction);
    }
  });
  return store;
}

test('minutes whose time has passed are deleted, by the earlier of two clocks', async () => {
  const store = await filled();
  const left = async () => (await store.deliverySeries.read(['whk_1'], ALL)).length;
  const forget = (hostNow: number, storeNow: number) =>
    forgetOldSeries({
      ...{ store, keptMs: 100 * MINUTE },
      clock: { now: () => hostNow * MINUTE },
      storeClock: { read: async () => storeNow * MINUTE },
    })(goOn);
  await forget(9999, 100);
  await forget(100, 9999);
  expect(await left()).toBe(2500);
  await forget(2300, 2300);
  expect(await left()).toBe(300);
});

test('captured answers whose time has passed are deleted', async () => {
  const store = await filled();
  await forgetExpiredAnswers(store, { read: async () => 649 })(goOn);
  const left = await store.capturedAnswers.page({ after: 0, limit: 1000 });
  expect(left.map(({ expiresAt }) => expiresAt)).toEqual(Array.from({ length: 50 }, (_, index) => 650 + index));
});
