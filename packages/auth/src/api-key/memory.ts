import { type ApiKeyEntry, recordOf } from './entry.ts';
import type { ApiKeyRecord, KeyStore } from './key-store.ts';

/**
 * Makes a store of fixed keys in memory, e.g. from the configuration of a host. It returns candidates without a
 * promise.
 *
 * @throws {TypeError} for a malformed entry, a repeated id or a repeated hash
 * @example
 * const keys = memoryKeyStore([{ hash: hashApiKey(key), tenant: 'acme', scopes: ['runs:*'] }]);
 */
export function memoryKeyStore(entries: Iterable<ApiKeyEntry>): KeyStore {
  const byPrefix = new Map<string, readonly ApiKeyRecord[]>();
  const ids = new Set<string>();
  const granted = new Set<string>();
  for (const entry of entries) {
    const record = recordOf(entry);
    if (ids.has(record.id)) throw new TypeError(`API key ${record.id}: id must be unique. Another key has it.`);
    ids.add(record.id);
    for (const scope of record.scopes) granted.add(scope);
    const prefix = record.hash.slice(0, PREFIX_LENGTH);
    const alike = byPrefix.get(prefix) ?? NONE;
    const same = alike.find(({ hash }) => hash === record.hash);
    if (same !== undefined)
      throw new TypeError(`API keys ${same.id} and ${record.id}: hash must be unique. Remove one.`);
    byPrefix.set(prefix, [...alike, record]);
  }
  return {
    candidates: ({ hash }) => byPrefix.get(hash.slice(0, PREFIX_LENGTH)) ?? NONE,
    grantedScopes: () => [...granted],
  };
}

/** 64 bits. The lookup in the map is not constant-time, so it must not see the whole hash. */
const PREFIX_LENGTH = 16;
const NONE: readonly ApiKeyRecord[] = [];
