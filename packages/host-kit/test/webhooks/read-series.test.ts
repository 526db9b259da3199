import { expect, test } from 'vitest';
import type { SeriesRange } from '../../src/ports/delivery-series.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { readSeries, tenantSeries } from '../../src/webhooks/read-series.ts';
import { sampleSubscription } from './samples.ts';

const MINUTE = 60_000;
const TENANCY = { tenant: 'acme', workspaces: 'all', mode: 'live' } as const;
const counts = { failed: 0, deadLettered: 0, skipped: 0, durationMs: 1, latency: [1, 0, 0, 0, 0, 0, 0, 0] };

/** A store with subscriptions, and a count for each in every hour of the range. */
async function storeOf(subscriptions: number, { from, until }: SeriesRange) {
  const store = memoryStore();
  const webhookIds = Array.from({ length: subscriptions }, (_, index) => `whk_${String(index).padStart(4, '0')}`);
  await store.transaction(async (transaction) => {
    for (const webhookId of webhookIds) {
      await store.subscriptions.insert(sampleSubscription({ webhookId }), transaction);
      for (let minute = from; minute < until; minute += 60 * MINUTE) {
        await store.deliverySeries.add([{ webhookId, minute, delivered: 1, ...counts }], transaction);
      }
    }
  });
  return { store, webhookIds };
}

test('a read in parts is the same as a read at once', async () => {
  const range = { from: 0, until: 8 * 1440 * MINUTE, stepMs: 45 * MINUTE };
  const { store, webhookIds } = await storeOf(2, range);
  const asked: SeriesRange[] = [];
  const deliverySeries: typeof store.deliverySeries = {
    ...store.deliverySeries,
    read: (ids, part) => {
      asked.push(part);
      return store.deliverySeries.read(ids, part);
    },
  };
  const read = await readSeries({ deliverySeries }, webhookIds, range);
  expect(read).toEqual(await store.deliverySeries.read(webhookIds, range));
  expect(asked.every(({ from, until }) => until - from <= 5000 * MINUTE && from % range.stepMs === 0)).toBe(true);
  expect(asked).toHaveLength(6);
});

test('the subscriptions of a long range are limited, and the result says so', async () => {
  const day = { from: 0, until: 1440 * MINUTE, stepMs: 60 * MINUTE };
  const { store } = await storeOf(84, { ...day, until: 60 * MINUTE });
  expect(await tenantSeries(store, TENANCY, day)).toMatchObject({ subscriptions: 83, isComplete: false });
  const hour = { from: 0, until: 60 * MINUTE, stepMs: MINUTE };
  const series = await tenantSeries(store, TENANCY, hour);
  expect(series).toMatchObject({ subscriptions: 84, isComplete: true, points: [{ at: 0, delivered: 84 }] });
});
