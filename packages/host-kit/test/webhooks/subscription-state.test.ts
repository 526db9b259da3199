import { expect, test } from 'vitest';
import type { Store } from '../../src/ports/store.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { changingState } from '../../src/webhooks/subscription-state.ts';
import { sampleSubscription } from './samples.ts';

test('a change of health is told once, however often the store tries its transaction', async () => {
  const inner = memoryStore();
  await inner.transaction((transaction) => inner.subscriptions.insert(sampleSubscription({}), transaction));
  const store: Store = {
    ...inner,
    async transaction(work) {
      const undone = inner.transaction(async (transaction) => {
        await work(transaction);
        throw new Error('undone because of others');
      });
      await undone.catch(() => {});
      return inner.transaction(work);
    },
  };
  const told: string[] = [];
  await changingState(
    store,
    (before, after) => told.push(`${before.status} → ${after.status}`),
    async (_transaction, changeHealth) => {
      await changeHealth('whk_1', ({ circuit, failures }) => ({ status: 'paused', circuit, failures }));
    },
  );
  expect(told).toEqual(['active → paused']);
});
