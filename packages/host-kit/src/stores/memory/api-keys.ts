import type { Tenancy } from '@svc/auth';
import { apiKeyState, drawn } from '@svc/auth/api-key';
import type { ApiKeyStore, QuotaCount, QuotaGrant, StoredApiKey } from '../../ports/api-keys.ts';
import { type Journal, put } from './journal.ts';

export function apiKeyStore(journal: Journal): ApiKeyStore {
  const keys = new Map<string, StoredApiKey>();
  const byHash = new Map<string, StoredApiKey>();
  const noted = new Map<string, true>();
  const counts = new Map<string, QuotaCount>();

  return {
    async add(key, transaction) {
      if (keys.has(key.id) || byHash.has(key.hash)) return false;
      put(journal, transaction, keys, key.id, key);
      put(journal, transaction, byHash, key.hash, key);
      return true;
    },
    readForChange: async (id) => keys.get(id),
    async replace(key, transaction) {
      const before = keys.get(key.id);
      if (before === undefined) return;
      if (before.hash !== key.hash) put(journal, transaction, byHash, before.hash, undefined);
      const kept = { ...key, lastUsedAt: before.lastUsedAt };
      put(journal, transaction, keys, key.id, kept);
      put(journal, transaction, byHash, key.hash, kept);
      put(journal, transaction, noted, key.id, undefined);
    },
    async remove(id, transaction) {
      const before = keys.get(id);
      if (before === undefined) return;
      put(journal, transaction, keys, id, undefined);
      put(journal, transaction, byHash, before.hash, undefined);
    },
    candidates: async (hashes) => hashes.flatMap((hash) => byHash.get(hash) ?? []),
    async find(tenancy, id) {
      const key = keys.get(id);
      return key !== undefined && isReached(tenancy, key) ? key : undefined;
    },
    list: async (tenancy, { after, limit, state, principal, now }) =>
      [...keys.values()]
        .filter((key) => key.id > after && isReached(tenancy, key))
        .filter((key) => state === undefined || apiKeyState(key, now) === state)
        .filter((key) => principal === undefined || key.principal === principal)
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit),
    configured: async () => [...keys.values()].filter(({ source }) => source === 'configuration'),
    async used(times, transaction) {
      const first: StoredApiKey[] = [];
      for (const [id, time] of times) {
        const key = keys.get(id);
        if (key === undefined || (key.lastUsedAt ?? Number.NEGATIVE_INFINITY) >= time) continue;
        const used = { ...key, lastUsedAt: time };
        put(journal, transaction, keys, id, used);
        put(journal, transaction, byHash, key.hash, used);
        if (key.lastUsedAt === undefined) first.push(used);
      }
      return first;
    },
    unnotedExpiries: async (now, limit) =>
      [...keys.values()].filter((key) => apiKeyState(key, now) === 'expired' && !noted.has(key.id)).slice(0, limit),
    async noteExpiry(key, transaction) {
      if (noted.has(key.id) || keys.get(key.id)?.expiresAt !== key.expiresAt) return false;
      put(journal, transaction, noted, key.id, true);
      return true;
    },
    async draw(draws, transaction) {
      const grants: QuotaGrant[] = [];
      for (const draw of draws) {
        const grant = drawn(counts.get(draw.account), draw);
        put(journal, transaction, counts, draw.account, grant.count);
        grants.push(grant);
      }
      return grants;
    },
    sweepCounts: (before, limit) =>
      journal.transaction(async (transaction) => {
        const ended = [...counts].filter(([, { period, startsAt }]) => startsAt < before[period]).slice(0, limit);
        for (const [account] of ended) put(journal, transaction, counts, account, undefined);
        return ended.length;
      }),
    async quotaCounts(accounts) {
      return new Map(
        accounts.flatMap((account) => {
          const count = counts.get(account);
          return count === undefined ? [] : [[account, count] as const];
        }),
      );
    },
  };
}

function isReached({ tenant, mode, workspaces }: Tenancy, key: StoredApiKey): boolean {
  if (key.tenant !== tenant || key.mode !== mode) return false;
  if (workspaces === 'all') return true;
  return key.workspaces !== 'all' && key.workspaces.every((workspace) => workspaces.includes(workspace));
}
