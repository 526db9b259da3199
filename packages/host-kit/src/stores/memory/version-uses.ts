import {
  type CallerUse,
  compareCallers,
  type VersionDay,
  type VersionUse,
  type VersionUses,
} from '../../ports/version-uses.ts';
import { type Journal, put } from './journal.ts';

export function versionUses(journal: Journal): VersionUses {
  /** By everything but the counts. */
  const stored = new Map<string, VersionUse>();

  function of({ tenant, mode }: Pick<VersionUse, 'tenant' | 'mode'>, since: number): VersionUse[] {
    return [...stored.values()].filter((use) => use.tenant === tenant && use.mode === mode && use.day >= since);
  }

  return {
    async add(uses, transaction) {
      for (const use of uses) {
        const { tenant, mode, major, lane, credential, day, requests, lastAt } = use;
        const key = JSON.stringify([tenant, mode, major, lane, credential, day]);
        const known = stored.get(key);
        const sum = known && {
          ...known,
          requests: known.requests + requests,
          lastAt: Math.max(known.lastAt, lastAt),
        };
        put(journal, transaction, stored, key, sum ?? { tenant, mode, major, lane, credential, day, requests, lastAt });
      }
    },
    async callers(tenancy, { major, since, after, limit }) {
      const callers = new Map<string, VersionUse[]>();
      for (const use of of(tenancy, since)) {
        if (after !== undefined && compareCallers(use, after) <= 0) continue;
        const name = JSON.stringify([use.lane, use.credential]);
        callers.set(name, [...(callers.get(name) ?? []), use]);
      }
      return [...callers.values()]
        .filter((uses) => uses.some((use) => use.major === major))
        .map(callerOf)
        .sort(compareCallers)
        .slice(0, limit);
    },
    async days(tenancy, since) {
      const days = new Map<string, VersionDay>();
      for (const { day, major, requests } of of(tenancy, since)) {
        const key = `${day} ${major}`;
        days.set(key, { day, major, requests: requests + (days.get(key)?.requests ?? 0) });
      }
      return [...days.values()].sort((a, b) => a.day - b.day || a.major - b.major);
    },
    sweep: (before, limit) =>
      journal.transaction(async (transaction) => {
        const old = [...stored].filter(([, { day }]) => day < before).slice(0, limit);
        for (const [key] of old) put(journal, transaction, stored, key, undefined);
        return old.length;
      }),
  };
}

/** Sums the uses of one credential over days. */
function callerOf(uses: readonly VersionUse[]): CallerUse {
  const [{ lane, credential } = { lane: '', credential: '' }] = uses;
  const majors = ([1, 2] as const).flatMap((major) => {
    const some = uses.filter((use) => use.major === major);
    if (some.length === 0) return [];
    const requests = some.reduce((sum, use) => sum + use.requests, 0);
    return [{ major, requests, lastAt: Math.max(...some.map(({ lastAt }) => lastAt)) }];
  });
  return { lane, credential, majors };
}
