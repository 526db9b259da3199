import type { AccessRecord, AccessStore } from '../../ports/access.ts';
import { lookupOf } from '../../ports/access-lookup.ts';
import { type Journal, put } from './journal.ts';

export function accessStore(journal: Journal): AccessStore {
  const records = new Map<string, AccessRecord>();
  const byLookup = new Map<string, readonly AccessRecord[]>();

  return {
    async hold(_tenant, transaction) {
      // Transactions run one at a time.
      journal.record(transaction, () => {});
    },
    async put(record, transaction) {
      const name = nameOf(record);
      forget(records.get(name), transaction);
      put(journal, transaction, records, name, record);
      const lookup = lookupOf(record);
      put(journal, transaction, byLookup, lookup, [...(byLookup.get(lookup) ?? []), record]);
    },
    async remove(record, transaction) {
      const name = nameOf(record);
      forget(records.get(name), transaction);
      put(journal, transaction, records, name, undefined);
    },
    find: async (kind, tenant, id) => records.get(nameOf({ kind, tenant, id })),
    lookUp: async (lookups) => [...new Set(lookups)].flatMap((lookup) => byLookup.get(lookup) ?? []),
    list: async (kind, tenant, { after, limit, principal, role }) =>
      [...records.values()]
        .filter((record) => record.kind === kind && record.tenant === tenant && record.id > after)
        .filter((record) => principal === undefined || principalOf(record) === principal)
        .filter((record) => role === undefined || (record.kind === 'assignment' && record.role === role))
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit),
    count: async (kind, tenant) =>
      [...records.values()].filter((record) => record.kind === kind && record.tenant === tenant).length,
    configured: async () => [...records.values()].filter(({ source }) => source === 'configuration'),
    removeEnded: (now, limit) =>
      journal.transaction(async (transaction) => {
        const ended = [...records.values()].filter((record) => hasEnded(record, now)).slice(0, limit);
        for (const record of ended) {
          forget(record, transaction);
          put(journal, transaction, records, nameOf(record), undefined);
        }
        return ended.length;
      }),
  };

  function forget(record: AccessRecord | undefined, transaction: Parameters<typeof put>[1]): void {
    if (record === undefined) return;
    const lookup = lookupOf(record);
    const others = (byLookup.get(lookup) ?? []).filter((other) => nameOf(other) !== nameOf(record));
    put(journal, transaction, byLookup, lookup, others.length === 0 ? undefined : others);
  }
}

function nameOf({ kind, tenant, id }: Pick<AccessRecord, 'kind' | 'tenant' | 'id'>): string {
  return JSON.stringify([kind, tenant, id]);
}

function principalOf(record: AccessRecord): string | undefined {
  if (record.kind === 'assignment' || record.kind === 'binding') return record.principal;
  return record.kind === 'withdrawal' && record.withdraws === 'principal' ? record.name : undefined;
}

function hasEnded(record: AccessRecord, now: number): boolean {
  return record.kind === 'withdrawal' && record.until !== undefined && record.until <= now;
}
