import type { ByokPlace, ByokSecret } from '../../ports/byok.ts';
import type { StoreContract } from './contract.ts';

/** Tests of `ByokStore`. */
export function byokContract({ onStore, assert }: StoreContract): void {
  onStore('a put adds a secret, or replaces the one of the same name', async (store) => {
    const put = (secret: ByokSecret) => store.transaction((transaction) => store.byok.put(secret, transaction));
    assert.deepEqual(await put(sampleSecret({})), true);
    const replacing = sampleSecret({ sealed: Uint8Array.of(9), createdAt: 5, updatedAt: 5 });
    assert.deepEqual(await put(replacing), false);
    assert.deepEqual(await store.byok.find(PLACE, 'openai'), { ...replacing, createdAt: 1 });
    assert.deepEqual(await store.transaction((transaction) => store.byok.count(PLACE, transaction)), 1);
  });

  onStore('a secret is found in its own tenant, workspace and mode alone', async (store) => {
    await store.transaction((transaction) => store.byok.put(sampleSecret({}), transaction));
    const { workspace: _, ...wholeTenant } = PLACE;
    const elsewhere: ByokPlace[] = [
      { ...PLACE, tenant: 'other' },
      { ...PLACE, workspace: 'w2' },
      { ...PLACE, mode: 'test' },
      wholeTenant,
    ];
    for (const place of elsewhere) {
      assert.deepEqual(await store.byok.find(place, 'openai'), undefined);
      assert.deepEqual(await store.byok.list(place, { after: '', limit: 10 }), []);
      const remove = store.transaction((transaction) => store.byok.remove(place, 'openai', transaction));
      assert.deepEqual(await remove, false);
    }
    assert.deepEqual(await store.byok.find(PLACE, 'openai'), sampleSecret({}));
  });

  onStore('secrets are listed in pages by name, without removed ones', async (store) => {
    const names = ['b', 'a', 'C', 'd'];
    await store.transaction(async (transaction) => {
      for (const name of names) await store.byok.put(sampleSecret({ name }), transaction);
    });
    const page = async (after: string) => (await store.byok.list(PLACE, { after, limit: 2 })).map(({ name }) => name);
    assert.deepEqual(await page(''), ['C', 'a']);
    assert.deepEqual(await page('a'), ['b', 'd']);
    const removed = await store.transaction((transaction) => store.byok.remove(PLACE, 'a', transaction));
    assert.deepEqual(removed, true);
    assert.deepEqual(await page(''), ['C', 'b']);
  });

  onStore('page lists the secrets of all tenants, and reseal replaces those that have not changed', async (store) => {
    const { workspace: _, ...wholeTenant } = sampleSecret({ name: 'd' });
    const samples = [
      sampleSecret({}),
      sampleSecret({ tenant: 'other', mode: 'test' }),
      sampleSecret({ name: 'b' }),
      wholeTenant,
    ];
    await store.transaction(async (transaction) => {
      for (const sample of samples) await store.byok.put(sample, transaction);
    });
    const first = await store.byok.page({ after: undefined, limit: 3 });
    const rest = await store.byok.page({ after: first.at(-1), limit: 3 });
    const named = ({ tenant, workspace, mode, name }: ByokSecret) => `${tenant} ${workspace} ${mode} ${name}`;
    assert.deepEqual([first.length, [...first, ...rest].map(named).sort()], [3, samples.map(named).sort()]);

    const reseal = (secret: ByokSecret, sealed: number) =>
      store.transaction((transaction) => store.byok.reseal(secret, Uint8Array.of(sealed), transaction));
    await reseal(sampleSecret({}), 7);
    assert.deepEqual(await store.byok.find(PLACE, 'openai'), sampleSecret({ sealed: Uint8Array.of(7) }));
    // The secret was replaced or removed since it was read.
    await reseal(sampleSecret({}), 8);
    await reseal(sampleSecret({ name: 'gone' }), 8);
    assert.deepEqual(await store.byok.find(PLACE, 'openai'), sampleSecret({ sealed: Uint8Array.of(7) }));
    assert.deepEqual(await store.byok.find(PLACE, 'gone'), undefined);
    assert.deepEqual(await store.byok.find({ ...PLACE, tenant: 'other', mode: 'test' }, 'openai'), samples[1]);
  });
}

const PLACE: ByokPlace = { tenant: 'acme', workspace: 'w1', mode: 'live' };

function sampleSecret(fields: Partial<ByokSecret>): ByokSecret {
  return { ...PLACE, name: 'openai', sealed: Uint8Array.of(1, 2), createdAt: 1, updatedAt: 1, ...fields };
}
