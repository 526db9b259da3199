import type { OpenedSecret } from '../../ports/opened-secrets.ts';
import type { Store } from '../../ports/store.ts';
import type { StoreContract } from './contract.ts';

/** Tests of `OpenedSecretStore`. */
export function openedSecretsContract({ onStore, assert }: StoreContract): void {
  onStore('the opened secrets of a run are listed by number, and are its own', async (store) => {
    const [second, first, other] = [sample({ number: 1 }), sample({}), sample({ runId: 'run_2', name: 'other' })];
    await add(store, second, first, other);
    assert.deepEqual(await store.openedSecrets.list('run_1'), [first, second]);
    assert.deepEqual(await store.openedSecrets.list('run_2'), [other]);
    assert.deepEqual(await store.openedSecrets.list('run_3'), []);
  });

  onStore('the opened secrets of a run are deleted together', async (store) => {
    const other = sample({ runId: 'run_2' });
    await add(store, sample({}), sample({ number: 1 }), other);
    await store.transaction((transaction) => store.openedSecrets.remove('run_1', transaction));
    assert.deepEqual(await store.openedSecrets.list('run_1'), []);
    assert.deepEqual(await store.openedSecrets.list('run_2'), [other]);
  });

  onStore('a rolled-back opened secret is not stored', async (store) => {
    const failing = store.transaction(async (transaction) => {
      await store.openedSecrets.add(sample({}), transaction);
      throw new Error('no');
    });
    await assert.rejects(failing);
    assert.deepEqual(await store.openedSecrets.list('run_1'), []);
  });

  onStore('page lists the opened secrets of all runs, and reseal replaces those that are there', async (store) => {
    const all = [sample({}), sample({ number: 1 }), sample({ number: 10 }), sample({ runId: 'run_2' })];
    await add(store, ...all);
    const first = await store.openedSecrets.page({ after: undefined, limit: 3 });
    assert.deepEqual(first, all.slice(0, 3));
    assert.deepEqual(await store.openedSecrets.page({ after: first.at(-1), limit: 3 }), all.slice(3));
    await store.transaction(async (transaction) => {
      await store.openedSecrets.reseal(sample({ number: 1 }), Uint8Array.of(9), transaction);
      await store.openedSecrets.reseal(sample({ runId: 'run_3' }), Uint8Array.of(9), transaction);
    });
    const [one, resealed, three] = all;
    assert.deepEqual(await store.openedSecrets.list('run_1'), [one, { ...resealed, sealed: Uint8Array.of(9) }, three]);
    assert.deepEqual(await store.openedSecrets.list('run_3'), []);
  });
}

function add(store: Store, ...opened: readonly OpenedSecret[]): Promise<void> {
  return store.transaction(async (transaction) => {
    for (const each of opened) await store.openedSecrets.add(each, transaction);
  });
}

function sample(fields: Partial<OpenedSecret>): OpenedSecret {
  return { runId: 'run_1', number: 0, name: 'openai', sealed: Uint8Array.of(1, 2, 3), ...fields };
}
