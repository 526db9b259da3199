import { type ApiKeyRecord, checkedApiKeyRecord, type KeyStore } from './key-store.ts';

/**
 * Keys in memory, as a host reads them from its configuration. It answers without a promise.
 *
 * @throws {TypeError} naming a record and its field, two records with one id, or two of one key
 * @example
 * const keys = memoryKeyStore([{ id: 'key_1', hash: hashApiKey(key), tenant: 'acme', workspaces: 'all', principal: 'p_7f3a', scopes: ['runs:*'], mode: 'live' }]);
 */
export function memoryKeyStore(records: Iterable<ApiKeyRecord>): KeyStore {
  const byPrefix = new Map<string, readonly ApiKeyRecord[]>();
  const ids = new Set<string>();
  for (const given of records) {
    const record = checkedApiKeyRecord(given);
    if (ids.has(record.id)) throw new TypeError(`API key ${record.id}: id must be unique. Another record has it.`);
    ids.add(record.id);
    const prefix = record.hash.slice(0, PREFIX_LENGTH);
    const alike = byPrefix.get(prefix) ?? NONE;
    const same = alike.find(({ hash }) => hash === record.hash);
    if (same !== undefined)
      throw new TypeError(`API keys ${same.id} and ${record.id}: hash must be unique. Remove one.`);
    byPrefix.set(prefix, [...alike, record]);
  }
  return { candidates: ({ hash }) => byPrefix.get(hash.slice(0, PREFIX_LENGTH)) ?? NONE };
}

/** The map's own comparison is not constant in time, so it sees a quarter of the hash: 64 bits. */
const PREFIX_LENGTH = 16;
const NONE: readonly ApiKeyRecord[] = [];
