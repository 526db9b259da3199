import type { Effect, EffectUse } from '../../ports/effects.ts';
import type { Store } from '../../ports/store.ts';
import type { StoreContract } from './contract.ts';

/** Tests of `EffectStore`. */
export function effectsContract({ onStore, assert }: StoreContract): void {
  onStore('an effect is read back unchanged, and replaced', async (store) => {
    const made = sample({ state: 'completed', result: { text: 'é\u0000"', none: null } });
    assert.deepEqual(await store.effects.read('eff_1'), undefined);
    await save(store, sample({}));
    assert.deepEqual(await store.effects.read('eff_1'), sample({}));
    await save(store, made);
    assert.deepEqual(await store.effects.read('eff_1'), made);
    const failing = store.transaction(async (transaction) => {
      await store.effects.save(sample({ at: 99 }), transaction);
      assert.deepEqual((await store.effects.readForChange('eff_1', transaction))?.at, 99);
      throw new Error('no');
    });
    await assert.rejects(failing);
    assert.deepEqual(await store.effects.read('eff_1'), made);
  });

  onStore('of several claims at the same time, one finds no effect', async (store) => {
    const claim = (invocationId: string) =>
      store.transaction(async (transaction) => {
        const found = await store.effects.readForChange('eff_1', transaction);
        if (found === undefined) await store.effects.save(sample({ invocationId }), transaction);
        return found?.invocationId ?? 'none';
      });
    const found = await Promise.all(['inv_1', 'inv_2', 'inv_3', 'inv_4'].map(claim));
    assert.deepEqual(found.filter((invocationId) => invocationId === 'none').length, 1);
    const winner = (await store.effects.read('eff_1'))?.invocationId;
    assert.deepEqual(
      found.filter((invocationId) => invocationId !== 'none'),
      [winner, winner, winner],
    );
  });

  onStore(
    'the effects of a run are listed once each, without results, in the order in which it asked for them',
    async (store) => {
      for (const effectId of ['eff_1', 'eff_2', 'eff_3']) {
        await save(store, sample({ effectId, state: 'completed', result: { text: ',"result":' } }));
      }
      const add = (fields: Partial<EffectUse>) =>
        store.transaction((transaction) => store.effects.addUse({ ...USE, ...fields }, transaction));
      assert.deepEqual(await add({ effectId: 'eff_2', at: 20 }), true);
      assert.deepEqual(await add({ effectId: 'eff_1', at: 30 }), true);
      assert.deepEqual(await add({ effectId: 'eff_2', at: 40 }), false);
      const other = { runId: 'run_2', effectId: 'eff_2', nodeId: 'other', attempt: 4 };
      assert.deepEqual(await add(other), true);
      const listed = (fields: Partial<Effect>) => sample({ state: 'completed', ...fields });
      const first = [listed({ effectId: 'eff_2' }), listed({ effectId: 'eff_1' })];
      assert.deepEqual(await store.effects.list({ runId: 'run_1' }, 10), first);
      assert.deepEqual(await store.effects.list({ runId: 'run_1' }, 1), first.slice(0, 1));
      const borrowed = listed({ effectId: 'eff_2', nodeId: 'other', attempt: 4 });
      assert.deepEqual(await store.effects.list({ runId: 'run_2' }, 10), [borrowed]);
      assert.deepEqual(await store.effects.list({ runId: 'run_3' }, 10), []);
    },
  );

  onStore('old effects are deleted with their uses', async (store) => {
    for (const [effectId, at] of [
      ['eff_1', 9],
      ['eff_2', 10],
      ['eff_3', 8],
    ] as const) {
      await save(store, sample({ effectId, at }));
      await store.transaction((transaction) => store.effects.addUse({ ...USE, effectId }, transaction));
    }
    assert.deepEqual(await store.effects.sweep(10, 1), 1);
    assert.deepEqual(await store.effects.sweep(10, 10), 1);
    assert.deepEqual(await store.effects.sweep(10, 10), 0);
    const left = await store.effects.list({ runId: 'run_1' }, 10);
    assert.deepEqual(
      left.map(({ effectId }) => effectId),
      ['eff_2'],
    );
    await save(store, sample({}));
    const isNew = store.transaction((transaction) => store.effects.addUse(USE, transaction));
    assert.deepEqual(await isNew, true);
  });
}

const USE: EffectUse = { effectId: 'eff_1', runId: 'run_1', nodeId: 'n', attempt: 0, at: 5 };

function sample(fields: Partial<Effect>): Effect {
  return {
    effectId: 'eff_1',
    keying: 'business-identity',
    providerKey: 'acme:pay',
    state: 'claimed',
    at: 5,
    invocationId: 'inv_1',
    runId: 'run_1',
    epoch: 2,
    nodeId: 'n',
    attempt: 0,
    ...fields,
  };
}

function save(store: Store, effect: Effect): Promise<void> {
  return store.transaction((transaction) => store.effects.save(effect, transaction));
}
