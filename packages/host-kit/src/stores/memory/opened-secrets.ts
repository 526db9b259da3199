import type { OpenedSecret, OpenedSecretStore } from '../../ports/opened-secrets.ts';
import { type Journal, put } from './journal.ts';

export function openedSecretStore(journal: Journal): OpenedSecretStore {
  const opened = new Map<string, OpenedSecret>();
  const sorted = () => [...opened.values()].sort(byPlace);
  const ofRun = (runId: string) => sorted().filter((each) => each.runId === runId);

  return {
    async add(added, transaction) {
      put(journal, transaction, opened, keyOf(added), added);
    },
    list: async (runId) => ofRun(runId),
    async remove(runId, transaction) {
      for (const each of ofRun(runId)) put(journal, transaction, opened, keyOf(each), undefined);
    },
    page: async ({ after, limit }) =>
      sorted()
        .filter((each) => after === undefined || byPlace(each, after) > 0)
        .slice(0, limit),
    async reseal(secret, sealed, transaction) {
      const current = opened.get(keyOf(secret));
      if (current !== undefined) put(journal, transaction, opened, keyOf(secret), { ...current, sealed });
    },
  };
}

type Place = Pick<OpenedSecret, 'runId' | 'number'>;

function keyOf({ runId, number }: Place): string {
  return JSON.stringify([runId, number]);
}

function byPlace(one: Place, other: Place): number {
  if (one.runId !== other.runId) return one.runId < other.runId ? -1 : 1;
  return one.number - other.number;
}
