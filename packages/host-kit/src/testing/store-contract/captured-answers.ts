import { ANSWERS_KEPT, type CapturedAnswer } from '../../ports/captured-answers.ts';
import type { Store } from '../../ports/store.ts';
import type { StoreContract } from './contract.ts';
import { TENANCY, withSubscriptions } from './samples.ts';

/** Tests of `CapturedAnswers`. */
export function capturedAnswersContract({ onStore, assert }: StoreContract): void {
  onStore('captured answers are listed by their delivery, newest first', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    const [first, second] = [sample({ attempt: 1, at: 10 }), sample({ attempt: 2, at: 20, sealed: Uint8Array.of(9) })];
    await add(store, first, second, sample({ deliveryId: 'dlv_2' }), sample({ webhookId: 'whk_2' }));
    await add(store, sample({ webhookId: 'whk_9' }));
    assert.deepEqual(await store.capturedAnswers.list('whk_1', 'dlv_1'), [second, first]);
    assert.deepEqual(await store.capturedAnswers.list('whk_2', 'dlv_2'), []);
    assert.deepEqual(await store.capturedAnswers.list('whk_9', 'dlv_1'), []);
  });

  onStore('the last captured answers of each subscription are kept', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    await add(store, sample({ webhookId: 'whk_2' }));
    const many = Array.from({ length: ANSWERS_KEPT + 5 }, (_, index) => sample({ attempt: index + 1 }));
    await add(store, ...many.slice(0, ANSWERS_KEPT));
    await add(store, ...many.slice(ANSWERS_KEPT));
    const kept = await store.capturedAnswers.list('whk_1', 'dlv_1');
    assert.deepEqual([kept.length, kept[0]?.attempt, kept.at(-1)?.attempt], [ANSWERS_KEPT, ANSWERS_KEPT + 5, 6]);
    assert.deepEqual((await store.capturedAnswers.list('whk_2', 'dlv_1')).length, 1);
  });

  onStore('captured answers are deleted when their time has passed, and with their subscription', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    await add(store, sample({ expiresAt: 10 }), sample({ expiresAt: 20, attempt: 2 }), sample({ webhookId: 'whk_2' }));
    assert.deepEqual(await store.capturedAnswers.sweep(20, 1), 1);
    assert.deepEqual(await store.capturedAnswers.sweep(20, 5), 1);
    assert.deepEqual(await store.capturedAnswers.sweep(20, 5), 0);
    await store.transaction((transaction) => store.subscriptions.remove(TENANCY, 'whk_2', transaction));
    assert.deepEqual(await store.capturedAnswers.list('whk_2', 'dlv_1'), []);
    assert.deepEqual(await store.capturedAnswers.page({ after: 0, limit: 5 }), []);
  });

  onStore('all captured answers are walked through in pages, and sealed anew', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    await add(store, sample({ attempt: 1 }), sample({ attempt: 2, webhookId: 'whk_2' }), sample({ attempt: 3 }));
    const first = await store.capturedAnswers.page({ after: 0, limit: 2 });
    const second = await store.capturedAnswers.page({ after: first.at(-1)?.position ?? 0, limit: 2 });
    assert.deepEqual(
      [first, second].map((page) => page.map(({ attempt }) => attempt)),
      [[1, 2], [3]],
    );
    await store.transaction(async (transaction) => {
      for (const answer of first) await store.capturedAnswers.reseal(answer, Uint8Array.of(7, 7), transaction);
    });
    const sealed = (await store.capturedAnswers.page({ after: 0, limit: 5 })).map((answer) => [...answer.sealed]);
    assert.deepEqual(sealed, [
      [7, 7],
      [7, 7],
      [1, 2],
    ]);
  });
}

function sample(fields: Partial<CapturedAnswer>): CapturedAnswer {
  return {
    ...{ webhookId: 'whk_1', deliveryId: 'dlv_1', attempt: 1, at: 5, expiresAt: 90 },
    sealed: Uint8Array.of(1, 2),
    ...fields,
  };
}

function add(store: Store, ...answers: readonly CapturedAnswer[]): Promise<void> {
  return store.transaction((transaction) => store.capturedAnswers.add(answers, transaction));
}
