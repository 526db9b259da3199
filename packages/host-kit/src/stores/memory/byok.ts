import type { ByokPlace, ByokSecret, ByokStore } from '../../ports/byok.ts';
import { type Journal, put } from './journal.ts';

export function byokStore(journal: Journal): ByokStore {
  const secrets = new Map<string, ByokSecret>();
  const of = (place: ByokPlace) => [...secrets.values()].filter((secret) => keyOf(secret, '') === keyOf(place, ''));

  return {
    async put(secret, transaction) {
      const key = keyOf(secret, secret.name);
      const before = secrets.get(key);
      put(journal, transaction, secrets, key, { ...secret, createdAt: before?.createdAt ?? secret.createdAt });
      return before === undefined;
    },
    count: async (place) => of(place).length,
    list: async (place, { after, limit }) =>
      of(place)
        .filter(({ name }) => name > after)
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .slice(0, limit),
    find: async (place, name) => secrets.get(keyOf(place, name)),
    async remove(place, name, transaction) {
      const key = keyOf(place, name);
      const found = secrets.has(key);
      if (found) put(journal, transaction, secrets, key, undefined);
      return found;
    },
    async page({ after, limit }) {
      const from = after === undefined ? '' : keyOf(after, after.name);
      const keys = [...secrets.keys()].filter((key) => key > from).sort();
      return keys.slice(0, limit).flatMap((key) => secrets.get(key) ?? []);
    },
    async reseal(secret, sealed, transaction) {
      const key = keyOf(secret, secret.name);
      const current = secrets.get(key);
      if (current === undefined || !isSame(current.sealed, secret.sealed)) return;
      put(journal, transaction, secrets, key, { ...current, sealed });
    },
  };
}

function keyOf({ tenant, workspace, mode }: ByokPlace, name: string): string {
  return JSON.stringify([tenant, workspace ?? null, mode, name]);
}

function isSame(bytes: Uint8Array, others: Uint8Array): boolean {
  return bytes.length === others.length && bytes.every((byte, index) => byte === others[index]);
}
