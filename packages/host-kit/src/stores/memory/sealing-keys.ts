import type { SealingKeyStore } from '../../ports/sealing-keys.ts';

export function sealingKeyStore(): SealingKeyStore {
  const known = new Set<string>();
  return {
    list: async () => [...known],
    async add(keyIds) {
      for (const keyId of keyIds) known.add(keyId);
    },
    async remove(keyIds) {
      for (const keyId of keyIds) known.delete(keyId);
    },
  };
}
