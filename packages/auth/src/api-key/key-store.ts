import { isOpaqueId, OPAQUE_ID_RULE } from '../opaque-id.ts';
import { isGrantableScope } from '../scopes.ts';

/** A key as it is stored: everything but the key itself. */
export interface ApiKeyRecord {
  /** Names the key in logs and rate limits. */
  readonly id: string;
  /** SHA-256 of the key in lower-case hexadecimal, as `hashApiKey` gives it. */
  readonly hash: string;
  readonly tenant: string;
  /** `'all'`: every workspace of the tenant. */
  readonly workspaces: 'all' | readonly string[];
  /** Whom the key acts for: opaque, never personal data. */
  readonly principal: string;
  /** As someone stated it. A key is never `anonymous`: who holds one has authenticated. */
  readonly principalKind?: 'user' | 'agent' | undefined;
  /** Scopes; `*` stands for one segment. */
  readonly scopes: readonly string[];
  readonly mode: 'live' | 'test';
  /** Milliseconds since the epoch; refused from then on. */
  readonly expiresAt?: number | undefined;
  /** Milliseconds since the epoch; refused from then on. In the future it ends the grace of a key that was replaced. */
  readonly revokedAt?: number | undefined;
}

export interface KeyLookup {
  /** SHA-256 of the presented key in lower-case hexadecimal. */
  readonly hash: string;
}

/** Where keys are kept. What it returns is compared in constant time, so it may find by any part of the hash. */
export interface KeyStore {
  /**
   * Every record that may be the presented key's, expired and revoked ones included. A store that has them in memory answers
   * at once, without a promise.
   */
  candidates(lookup: KeyLookup): readonly ApiKeyRecord[] | Promise<readonly ApiKeyRecord[]>;
}

/**
 * Checks a record and returns it frozen, with the fields of a record alone: a plain key beside its hash does not get in.
 *
 * @throws {TypeError} naming the record's id and the field; never with a value, which may be a key in the wrong place
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

/** Records that came out of the check: they are frozen, so they still hold. */
const CHECKED = /* @__PURE__ */ new WeakSet<ApiKeyRecord>();

const KEY_ID = /^[A-Za-z0-9._~-]{1,128}$/;
const HASH = /^[0-9a-f]{64}$/;
const KINDS: ReadonlySet<string> = new Set(['user', 'agent']);

/** `*` would name a workspace that no one has, where "all of them" was meant. */
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
