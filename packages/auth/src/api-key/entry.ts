import { sha256 } from '#sha256';
import { type ApiKeyRecord, checkedApiKeyRecord, isKeyHash } from './key-store.ts';

/** An API key as a configuration states it: everything but the key itself. */
export interface ApiKeyEntry extends Omit<ApiKeyRecord, 'id' | 'principal' | 'workspaces' | 'mode'> {
  /**
   * Names the key in logs and rate limits: 1 to 128 letters, digits or `._~-`. Default: `key_` and 16 hexadecimal digits
   * that are made of the hash, the same at every start.
   */
  readonly id?: string | undefined;
  /** Opaque id of the principal for whom the key acts, never personal data. Default: the id. */
  readonly principal?: string | undefined;
  /** At least one workspace id, or `'all'` for every workspace of the tenant. Default `['main']`. */
  readonly workspaces?: 'all' | readonly string[] | undefined;
  /** The data that the key reaches. Default `live`. */
  readonly mode?: 'live' | 'test' | undefined;
}

/**
 * Fills in the defaults of an entry, and checks it.
 *
 * @throws {TypeError} for a malformed field, as `checkedApiKeyRecord` does
 */
export function recordOf(entry: ApiKeyEntry): ApiKeyRecord {
  return checkedApiKeyRecord(withDefaults(entry));
}

/** Fills in the defaults of an entry. */
export function withDefaults(entry: ApiKeyEntry): ApiKeyRecord {
  const { id = idOf(entry.hash), principal = id, workspaces = ['main'], mode = 'live' } = entry;
  return { ...entry, id, principal, workspaces, mode };
}

/** Hashed once more: an id is shown, and a part of the hash itself would tell where a store looks for the key. */
function idOf(hash: string): string {
  // A plain key in place of the hash must not be hashed into an id. The check refuses the entry by this name.
  return isKeyHash(hash) ? `key_${sha256(hash).slice(0, 16)}` : 'record';
}
