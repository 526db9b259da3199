import type { Annotation } from '../../ports/annotations.ts';
import type { StoreContract } from './contract.ts';

/** Tests of `AnnotationStore`. */
export function annotationsContract({ onStore, assert }: StoreContract): void {
  onStore('annotations are listed and counted by their run, in the order of their ids', async (store) => {
    const whole = sample({ annotationId: 'ann_2', eventId: 'evt_1', nodeId: 'n', note: 'é\u0000"' });
    const first = sample({ signal: { kind: 'correction', correction: 'x' } });
    await store.transaction(async (transaction) => {
      for (const each of [whole, first, sample({ runId: 'run_2' })]) await store.annotations.insert(each, transaction);
      assert.deepEqual(await store.annotations.count({ runId: 'run_1' }, transaction), 2);
      assert.deepEqual(await store.annotations.count({ runId: 'run_3' }, transaction), 0);
    });
    assert.deepEqual(await store.annotations.list({ runId: 'run_1' }, 10), [first, whole]);
    assert.deepEqual(await store.annotations.list({ runId: 'run_1' }, 1), [first]);
    assert.deepEqual(await store.annotations.list({ runId: 'run_3' }, 10), []);
  });

  onStore('a rolled-back annotation is not listed', async (store) => {
    const failing = store.transaction(async (transaction) => {
      await store.annotations.insert(sample({}), transaction);
      throw new Error('no');
    });
    await assert.rejects(failing);
    assert.deepEqual(await store.annotations.list({ runId: 'run_1' }, 10), []);
  });
}

function sample(fields: Partial<Annotation>): Annotation {
  return {
    annotationId: 'ann_1',
    runId: 'run_1',
    signal: { kind: 'rating', rating: 5 },
    actor: 'p_1',
    createdAt: 1,
    ...fields,
  };
}
