import { isOpaqueId, OPAQUE_ID_RULE } from '../opaque-id.ts';
import { isGrantableScope } from '../scopes.ts';

/** A stored API key: everything but the key itself. */
export interface ApiKeyRecord {
  /** Names the key in logs and rate limits: 1 to 128 letters, digits or `._~-`. */
  readonly id: string;
  /** SHA-256 of the key in lower-case hexadecimal, as `hashApiKey` gives it. */
  readonly hash: string;
  /** Opaque id of the tenant. */
  readonly tenant: string;
  /** At least one workspace id, or `'all'` for every workspace of the tenant. */
  readonly workspaces: 'all' | readonly string[];
  /** Opaque id of the principal for whom the key acts, never personal data. */
  readonly principal: string;
  /** The stated kind. A key is never `anonymous`: its holder has authenticated. Default: none stated. */
  readonly principalKind?: 'user' | 'agent' | undefined;
  /** Scopes. A segment may be `*`. */
  readonly scopes: readonly string[];
  /** The data that the key reaches. */
  readonly mode: 'live' | 'test';
  /** Milliseconds since the epoch. The key is refused from then on. Default: never. */
  readonly expiresAt?: number | undefined;
  /**
   * Milliseconds since the epoch. The key is refused from then on. A future time is the end of the grace period of a
   * replaced key. Default: never.
   */
  readonly revokedAt?: number | undefined;
}

/** A query for a key. */
export interface KeyLookup {
  /** SHA-256 of the presented key in lower-case hexadecimal. */
  readonly hash: string;
}

/** Stores keys. The lane compares the found hashes in constant time, so a store may look up by any part of the hash. */
export interface KeyStore {
  /**
   * Returns every record that may be of the presented key, expired and revoked ones included. A store in memory returns
   * the list without a promise.
   */
  candidates(lookup: KeyLookup): readonly ApiKeyRecord[] | Promise<readonly ApiKeyRecord[]>;
}

/**
 * Checks a record. Returns a frozen copy with the fields of a record only: a plain key beside its hash is dropped.
 *
 * @throws {TypeError} for a malformed field. The message names the record's id and the field, never the value: a key
 * may be in the wrong field.
 * @example
 * const record = checkedApiKeyRecord(JSON.parse(row.record));
 */
export function checkedApiKeyRecord(record: ApiKeyRecord): ApiKeyRecord {
  if (CHECKED.has(record)) return record;
  const { id, hash, tenant, workspaces, principal, principalKind, scopes, mode, expiresAt, revokedAt } = record;
  const named = typeof id === 'string' && KEY_ID.test(id);
  const need = (met: boolean, field: string, expected: string) => {
    if (!met) throw new TypeError(`API key ${named ? id : 'record'}: ${field} must be ${expected}.`);
  };
  need(named, 'id', '1 to 128 letters, digits or one of ._~-');
  need(
    typeof hash === 'string' && HASH.test(hash),
    'hash',
    '64 lower-case hexadecimal digits, as hashApiKey gives them',
  );
  need(isOpaqueId(tenant), 'tenant', OPAQUE_ID_RULE);
  need(isReach(workspaces), 'workspaces', `"all", or a list of at least one workspace, each ${OPAQUE_ID_RULE}`);
  need(isOpaqueId(principal), 'principal', OPAQUE_ID_RULE);
  need(principalKind === undefined || KINDS.has(principalKind), 'principalKind', 'user or agent, or left out');
  need(isGrant(scopes), 'scopes', 'a list of scopes such as runs:read or runs:*');
  need(mode === 'live' || mode === 'test', 'mode', 'live or test');
  need(isInstant(expiresAt), 'expiresAt', 'a time in milliseconds since the epoch, or left out');
  need(isInstant(revokedAt), 'revokedAt', 'a time in milliseconds since the epoch, or left out');
  const checked: ApiKeyRecord = Object.freeze({
    id,
    hash,
    tenant,
    workspaces: workspaces === 'all' ? workspaces : Object.freeze([...workspaces]),
    principal,
    principalKind,
    scopes: Object.freeze([...scopes]),
    mode,
    expiresAt,
    revokedAt,
  });
  CHECKED.add(checked);
  return checked;
}

/** Records that have passed the check. They are frozen, so they stay valid. */
const CHECKED = /* @__PURE__ */ new WeakSet<ApiKeyRecord>();

const KEY_ID = /^[A-Za-z0-9._~-]{1,128}$/;
const HASH = /^[0-9a-f]{64}$/;
const KINDS: ReadonlySet<string> = new Set(['user', 'agent']);

/** `*` is refused: it would name one workspace where the operator meant all of them. */
function isReach(workspaces: ApiKeyRecord['workspaces']): boolean {
  if (workspaces === 'all') return true;
  const named = (workspace: string) => isOpaqueId(workspace) && workspace !== '*';
  return Array.isArray(workspaces) && workspaces.length > 0 && workspaces.every(named);
}

function isGrant(scopes: readonly string[]): boolean {
  return Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string' && isGrantableScope(scope));
}

function isInstant(time: number | undefined): boolean {
  return time === undefined || Number.isFinite(time);
}
