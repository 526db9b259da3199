import { expect, test } from 'vitest';
import type { Store } from '../../src/ports/store.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { changingState } from '../../src/webhooks/subscription-state.ts';
import { sampleSubscription } from './samples.ts';

test('reports a change of state once, even when the store repeats the transaction', async () => {
  const inner = memoryStore();
  await inner.transaction((transaction) => inner.subscriptions.insert(sampleSubscription({}), transaction));
  const store: Store = {
    ...inner,
    async transaction(work) {
      const undone = inner.transaction(async (transaction) => {
        await work(transaction);
        throw new Error('a conflict with another transaction');
      });
      await undone.catch(() => {});
      return inner.transaction(work);
    },
  };
  const reported: string[] = [];
  await changingState(
    store,
    (before, after) => reported.push(`${before.status} → ${after.status}`),
    async (_transaction, changeState) => {
      await changeState('whk_1', ({ circuit, failures }) => ({ status: 'paused', circuit, failures }));
    },
  );
  expect(reported).toEqual(['active → paused']);
});
