import { periodAt, type QuotaPeriod } from '@svc/auth/api-key';
import { expect, test } from 'vitest';
import { forgetCounts } from '../../src/keys/forget-counts.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';

const NOW = Date.UTC(2026, 2, 1, 0, 5);
const DAY_MS = 86_400_000;

async function storeWith(counts: readonly (readonly [account: string, period: QuotaPeriod, at: number])[]) {
  const store = memoryStore();
  const draws = counts.map(([account, period, at]) => ({
    ...{ account, period, limit: 10, wanted: 1, used: 0, returned: 0 },
    ...periodAt(period, at),
  }));
  await store.transaction((transaction) => store.apiKeys.draw(draws, transaction));
  const round = forgetCounts({ store, storeClock: { read: async () => NOW } });
  return { store, round };
}

test('counts of this period, of the one before it and of a later one stay', async () => {
  const counts = [
    ['today', 'day', NOW],
    ['yesterday', 'day', NOW - DAY_MS],
    ['tomorrow', 'day', NOW + DAY_MS],
    ['two days ago', 'day', NOW - 2 * DAY_MS],
    ['this month', 'month', NOW],
    ['last month', 'month', NOW - DAY_MS],
    ['January', 'month', NOW - 31 * DAY_MS],
  ] as const;
  const { store, round } = await storeWith(counts);
  await round(new AbortController().signal);
  const left = await store.apiKeys.quotaCounts(counts.map(([account]) => account));
  expect([...left.keys()]).toEqual(['today', 'yesterday', 'tomorrow', 'this month', 'last month']);
});

test('one round deletes all of them in batches, and ends when the host stops', async () => {
  const counts = Array.from({ length: 1200 }, (_, n) => [`key_${n} day`, 'day', NOW - 9 * DAY_MS] as const);
  const { store, round } = await storeWith(counts);
  const names = counts.map(([account]) => account);
  const stopped = AbortSignal.abort();
  await round(stopped);
  expect((await store.apiKeys.quotaCounts(names)).size).toBe(1200);
  await round(new AbortController().signal);
  expect((await store.apiKeys.quotaCounts(names)).size).toBe(0);
});
