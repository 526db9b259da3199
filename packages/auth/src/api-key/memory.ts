import { isGrantableScope } from '../scopes.ts';
import { isOpaqueId } from '../subject.ts';
import type { ApiKeyRecord, KeyStore } from './key-store.ts';

/**
 * Keys in memory, as a host reads them from its configuration.
 *
 * @throws {TypeError} naming the record and field that cannot be right
 */
export function memoryKeyStore(records: Iterable<ApiKeyRecord>): KeyStore {
  // By the first half of the hash: the second is left for the constant-time comparison to decide.
  const byPrefix = new Map<string, readonly ApiKeyRecord[]>();
  for (const record of records) {
    check(record);
    const prefix = record.hash.slice(0, PREFIX_LENGTH);
    byPrefix.set(prefix, [...(byPrefix.get(prefix) ?? []), record]);
  }
  return { candidates: (hash) => byPrefix.get(hash.slice(0, PREFIX_LENGTH)) ?? NONE };
}

const PREFIX_LENGTH = 32;
const NONE: readonly ApiKeyRecord[] = [];

function check(record: ApiKeyRecord): void {
  const refuse = (problem: string) => new TypeError(`API key ${record.id}: ${problem}`);
  if (!/^[0-9a-f]{64}$/.test(record.hash)) throw refuse('hash must be 64 lower-case hexadecimal digits.');
  if (!isOpaqueId(record.principal)) throw refuse('principal must be opaque: no @, white space, slash or token.');
  const scope = record.scopes.find((candidate) => !isGrantableScope(candidate));
  if (scope !== undefined) throw refuse(`scopes: "${scope}" is not of the form <name>:<name>.`);
  if (record.workspaces !== 'all' && record.workspaces.length === 0) throw refuse('workspaces must name at least one.');
}
