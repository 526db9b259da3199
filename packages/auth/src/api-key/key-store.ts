import { isOpaqueId, OPAQUE_ID_RULE } from '../opaque-id.ts';
import { areGrantable } from '../scopes.ts';
import { isReach } from '../tenancy.ts';
import { isKeyQuota, type KeyQuota } from './quota.ts';

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
  /** The most requests of this key in a window. Default: the limit of the host alone. */
  readonly rateLimit?: KeyRateLimit | undefined;
  /**
   * The most requests of this key in a calendar period, over all hosts. A guard needs `quotas` to count them. Default: no
   * quota.
   */
  readonly quota?: KeyQuota | undefined;
  /**
   * The blocks of client addresses from which the key is accepted, such as `192.0.2.0/24`: 1 to 64. A block of IPv6 has
   * a prefix of 64 bits at most. `apiKeyLane` needs `isWithin` to judge them. Default: every address.
   */
  readonly allowedAddresses?: readonly string[] | undefined;
}

/** The most requests of a key in a window. */
export interface KeyRateLimit {
  /** Requests per window: a whole number, at least 1. */
  readonly limit: number;
  /** Length of the window in seconds: a whole number from 1 to 86 400. */
  readonly windowSeconds: number;
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
  /** Returns the scopes of the keys that the configuration of the host fixes. Absent: there are no such keys. */
  grantedScopes?(): readonly string[];
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
  return checkedAs(`API key ${isKeyId(record.id) ? record.id : 'record'}`, record);
}

/**
 * Checks a record as {@link checkedApiKeyRecord} does.
 *
 * @param label begins the message of an error
 */
export function checkedAs(label: string, record: ApiKeyRecord): ApiKeyRecord {
  const { id, hash, tenant, workspaces, principal, principalKind, scopes, mode, expiresAt, revokedAt } = record;
  const { rateLimit, quota, allowedAddresses } = record;
  const need = (met: boolean, field: string, expected: string) => {
    if (!met) throw new TypeError(`${label}: ${field} must be ${expected}.`);
  };
  need(isKeyId(id), 'id', '1 to 128 letters, digits or one of ._~-');
  need(isKeyHash(hash), 'hash', '64 lower-case hexadecimal digits, as hashApiKey gives them');
  need(isOpaqueId(tenant), 'tenant', OPAQUE_ID_RULE);
  need(isReach(workspaces), 'workspaces', `"all", or a list of at least one workspace, each ${OPAQUE_ID_RULE}`);
  need(isOpaqueId(principal), 'principal', OPAQUE_ID_RULE);
  need(principalKind === undefined || KINDS.has(principalKind), 'principalKind', 'user or agent, or left out');
  need(areGrantable(scopes), 'scopes', 'a list of scopes such as runs:read or runs:*');
  need(mode === 'live' || mode === 'test', 'mode', 'live or test');
  need(isInstant(expiresAt), 'expiresAt', 'a time in milliseconds since the epoch, or left out');
  need(isInstant(revokedAt), 'revokedAt', 'a time in milliseconds since the epoch, or left out');
  need(isKeyRateLimit(rateLimit), 'rateLimit', 'a limit and windowSeconds, whole numbers of at least 1, or left out');
  need(
    quota === undefined || isKeyQuota(quota, (account) => KEY_ID.test(account)),
    'quota',
    'a limit, a whole number of at least 1, and a period, day or month, or left out',
  );
  need(areBlocks(allowedAddresses), 'allowedAddresses', 'a list of 1 to 64 blocks such as 192.0.2.0/24, or left out');
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
    ...(rateLimit !== undefined && { rateLimit: Object.freeze({ ...rateLimit }) }),
    ...(quota !== undefined && { quota: Object.freeze({ ...quota }) }),
    ...(allowedAddresses !== undefined && { allowedAddresses: Object.freeze([...allowedAddresses]) }),
  });
  CHECKED.add(checked);
  return checked;
}

/** Records that have passed the check. They are frozen, so they stay valid. */
const CHECKED = /* @__PURE__ */ new WeakSet<ApiKeyRecord>();

const KEY_ID = /^[A-Za-z0-9._~-]{1,128}$/;
const HASH = /^[0-9a-f]{64}$/;

function isKeyId(id: unknown): boolean {
  return typeof id === 'string' && KEY_ID.test(id);
}

/** Returns whether a value has the form of the hash of a key. */
export function isKeyHash(hash: unknown): boolean {
  return typeof hash === 'string' && HASH.test(hash);
}

const KINDS: ReadonlySet<string> = new Set(['user', 'agent']);

function isInstant(time: number | undefined): boolean {
  return time === undefined || Number.isFinite(time);
}

function isKeyRateLimit(value: KeyRateLimit | undefined): boolean {
  if (value === undefined) return true;
  const { limit, windowSeconds } = Object(value);
  const isCount = (count: unknown) => Number.isSafeInteger(count) && Number(count) >= 1;
  return isCount(limit) && isCount(windowSeconds) && windowSeconds <= LONGEST_WINDOW_SECONDS;
}

const LONGEST_WINDOW_SECONDS = 86_400;

/** Judges the form alone: `isWithin` of the lane parses the blocks, and must refuse each block that it cannot parse. */
function areBlocks(value: readonly string[] | undefined): boolean {
  if (value === undefined) return true;
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_BLOCKS) return false;
  return value.every((block) => typeof block === 'string' && /^[0-9A-Fa-f:.]{2,45}\/\d{1,3}$/.test(block));
}

const MOST_BLOCKS = 64;
