import type { Effect, EffectStore, EffectUse } from '../../ports/effects.ts';
import { type Journal, put } from './journal.ts';
import type { RecordsOfRuns } from './records-of-runs.ts';

export function effectStore(journal: Journal): EffectStore & RecordsOfRuns {
  const effects = new Map<string, Effect>();
  /** The uses of each run, by effect. */
  const uses = new Map<string, ReadonlyMap<string, EffectUse>>();

  return {
    read: async (effectId) => effects.get(effectId),
    readForChange: async (effectId) => effects.get(effectId),
    async save(effect, transaction) {
      put(journal, transaction, effects, effect.effectId, effect);
    },
    async addUse(use, transaction) {
      const known = uses.get(use.runId) ?? new Map<string, EffectUse>();
      if (known.has(use.effectId)) return false;
      put(journal, transaction, uses, use.runId, new Map([...known, [use.effectId, use]]));
      return true;
    },
    async list({ runId }, limit) {
      const asked = [...(uses.get(runId)?.values() ?? [])].sort(
        (a, b) => a.at - b.at || (a.effectId < b.effectId ? -1 : 1),
      );
      return asked.slice(0, limit).flatMap((use) => {
        const effect = effects.get(use.effectId);
        if (effect === undefined) return [];
        const { result: _, ...listed } = effect;
        return [effect.runId === runId ? listed : { ...listed, nodeId: use.nodeId, attempt: use.attempt }];
      });
    },
    drop: ({ runId }, transaction) => put(journal, transaction, uses, runId, undefined),
    sweep: (before, limit) =>
      journal.transaction(async (transaction) => {
        const old = [...effects.values()].filter(({ at }) => at < before).slice(0, limit);
        const swept = new Set(old.map(({ effectId }) => effectId));
        for (const effectId of swept) put(journal, transaction, effects, effectId, undefined);
        for (const [runId, asked] of [...uses]) {
          const left = [...asked].filter(([effectId]) => !swept.has(effectId));
          if (left.length === asked.size) continue;
          put(journal, transaction, uses, runId, left.length === 0 ? undefined : new Map(left));
        }
        return swept.size;
      }),
  };
}
