import type { ApiKeyPage, StoredApiKey } from '../../ports/api-keys.ts';
import { type RecordReader, readRecord } from '../passed-over.ts';
import { integer, optional, type Row, text } from './row.ts';

/** The columns of a key, in the order of the statements. `record` has every field but the last use. */
export function apiKeyColumns(key: StoredApiKey): (string | number | null)[] {
  const { lastUsedAt: _, ...record } = key;
  return [
    key.id,
    key.hash.slice(0, INDEXED),
    key.hash,
    key.tenant,
    key.mode,
    key.principal,
    key.source,
    JSON.stringify(key.workspaces),
    key.expiresAt ?? null,
    // A key that was revoked now is revoked at every time.
    key.ended === 'now' ? 0 : (key.revokedAt ?? null),
    JSON.stringify(record),
  ];
}

/** The characters of a hash that are looked up: 64 bits, so that the time of the lookup does not depend on the rest. */
export const INDEXED = 16;

/** Reads the rows of keys. */
export const API_KEYS: RecordReader<Row, StoredApiKey> = {
  kind: 'api-key',
  idOf: (row) => text(row, 'id'),
  read: parsed,
};

/**
 * Reads a key. The lane judges the fields, so that a malformed record refuses its own key alone.
 *
 * @throws {UnreadableRecord} when the row cannot be read
 */
export function apiKeyOf(row: Row): StoredApiKey {
  return readRecord(API_KEYS, row);
}

function parsed(row: Row): StoredApiKey {
  const record: StoredApiKey = JSON.parse(text(row, 'record'));
  // The columns find a key, and its record says what it may do. A record of another key must not be used.
  if (record.id !== text(row, 'id') || record.hash !== text(row, 'hash') || !Array.isArray(record.scopes)) {
    throw new Error('Column record: the stored value has an unexpected form.');
  }
  const lastUsedAt = optional(row, 'last_used_at', integer);
  return { ...record, ...(lastUsedAt !== undefined && { lastUsedAt }) };
}

/** The conditions of a state at the time that `now` stands for. */
export function stateCondition(state: ApiKeyPage['state'], now: string): string {
  const revoked = `(revoked_at IS NOT NULL AND revoked_at <= ${now})`;
  const expired = `(expires_at IS NOT NULL AND expires_at <= ${now})`;
  switch (state) {
    case 'revoked':
      return revoked;
    case 'expired':
      return `NOT ${revoked} AND ${expired}`;
    case 'active':
      return `NOT ${revoked} AND NOT ${expired}`;
    case undefined:
      return '1 = 1';
  }
}
