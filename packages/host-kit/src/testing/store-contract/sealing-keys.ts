import type { StoreContract } from './contract.ts';

export function sealingKeysContract({ onStore, assert }: StoreContract): void {
  onStore('sealing keys: ids are added once and removed, and unknown ones are ignored', async ({ sealingKeys }) => {
    assert.deepEqual(await sealingKeys.list(), []);
    await sealingKeys.add(['aa', 'bb']);
    await sealingKeys.add(['bb', 'cc', 'cc']);
    assert.deepEqual([...(await sealingKeys.list())].sort(), ['aa', 'bb', 'cc']);
    await sealingKeys.remove(['bb', 'dd']);
    assert.deepEqual([...(await sealingKeys.list())].sort(), ['aa', 'cc']);
  });
}
