import type { Principal } from '@svc/auth';
import {
  apiKeyState,
  checkedApiKeyRecord,
  excessOf,
  holdsScope,
  type KeyQuota,
  keyPrefix,
  mintApiKey,
} from '@svc/auth/api-key';
import { factAbout } from '../audit/fact.ts';
import { HostError, invalid } from '../errors.ts';
import { mintInOrder } from '../ids-in-order.ts';
import type { StoredApiKey } from '../ports/api-keys.ts';
import type { Transaction } from '../ports/transaction.ts';
import { requireGivable, requireStanding, requireWorkspaces, restrictionsOf } from './authority.ts';
import type { KeyServices } from './key-services.ts';
import { accountOf } from './quota-uses.ts';
import {
  isWiderQuota,
  type KeyRestrictions,
  requireNotWider,
  requireQuotaChange,
  requireWithin,
} from './restrictions.ts';

/** The fields of a new key. Each that is left out takes that of the caller. */
export interface NewKey extends KeyRestrictions {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly workspaces?: 'all' | readonly string[] | undefined;
  readonly principal?: string | undefined;
  readonly principalKind?: 'user' | 'agent' | undefined;
  readonly expiresAt?: number | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** A change of a key. */
export interface KeyChange {
  readonly name?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** Null: the key never expires. */
  readonly expiresAt?: number | null | undefined;
  /** Null: no quota. */
  readonly quota?: Pick<KeyQuota, 'limit' | 'period'> | null | undefined;
}

/** A new key, which is shown once, and its record. */
export interface ShownKey {
  readonly key: string;
  readonly record: StoredApiKey;
}

/** Stores the reply in the transaction of the change. */
export type SaveKey = (made: MadeKey, transaction: Transaction) => Promise<void>;

/** The records of a new key, and of the one that it replaces. */
export interface MadeKey {
  readonly record: StoredApiKey;
  readonly retired?: StoredApiKey;
}

/**
 * Makes a key. It has no authority that the caller lacks.
 *
 * @throws {HostError} `forbidden` when a field exceeds the authority of the caller, `validation_error`
 */
export async function createKey(
  services: KeyServices,
  caller: Principal,
  asked: NewKey,
  save: SaveKey,
): Promise<ShownKey> {
  const { store, clock, random, recordAudit } = services;
  const own = await restrictionsOf(services, caller);
  const { tenant, mode } = caller.tenancy;
  const principal = asked.principal ?? caller.id;
  const kind = asked.principal === undefined ? statedKind(caller) : asked.principalKind;
  const restrictions = requireWithin(own, asked);
  const { key, hash } = mintApiKey({ mode, randomBytes: random });
  const now = clock.now();
  const expiresAt = asked.expiresAt ?? caller.expiresAt;
  const record: StoredApiKey = {
    id: mintInOrder('key', clock, random),
    hash,
    tenant,
    workspaces: asked.workspaces ?? caller.tenancy.workspaces,
    principal,
    ...(kind !== undefined && { principalKind: kind }),
    scopes: asked.scopes,
    mode,
    ...(expiresAt !== undefined && { expiresAt }),
    ...restrictions,
    name: asked.name,
    prefix: keyPrefix(key),
    metadata: asked.metadata ?? {},
    createdAt: now,
    source: 'operation',
  };
  requireLater('expiresAt', record.expiresAt, now);
  requireWorkspaces(services, record);
  requireGivable(services, caller, record);
  // A malformed record would be stored for good.
  checkedApiKeyRecord(record);
  await store.transaction(async (transaction) => {
    await requireStanding(services, caller, transaction);
    if (!(await store.apiKeys.add(record, transaction))) throw new Error('apiKeys: a minted id or hash is taken.');
    await save({ record }, transaction);
    await recordAudit(factAbout(caller, { action: 'key.created', target: record.id, at: now }), transaction);
  });
  return { key, record };
}

/** Returns a key that the caller reaches. @throws {HostError} `not_found` */
export async function reachedKey({ store }: KeyServices, caller: Principal, id: string): Promise<StoredApiKey> {
  const found = await store.apiKeys.find(caller.tenancy, id);
  if (found === undefined) throw absent();
  return found;
}

/**
 * Changes the name, the scopes, the expiry or the quota of a key. Scopes can only become fewer. A later expiry and a higher
 * quota are given by the caller, who needs the whole authority of the key.
 *
 * @throws {HostError} `not_found`, `forbidden`, `validation_error`
 */
export async function updateKey(
  services: KeyServices,
  caller: Principal,
  id: string,
  { name, scopes, expiresAt, quota }: KeyChange,
): Promise<StoredApiKey> {
  const now = services.clock.now();
  requireLater('expiresAt', expiresAt ?? undefined, now);
  const own = await restrictionsOf(services, caller);
  return changeKey(services, caller, id, { action: 'key.updated', now }, (key) => {
    requireOwnedByOperation(key);
    requireActive(key, now);
    if (scopes !== undefined && !scopes.every((scope) => holdsScope(key.scopes, scope))) {
      throw invalid({ field: 'scopes', problem: 'must be scopes that the key has. Create another key for more.' });
    }
    const { expiresAt: before, quota: quotaBefore, ...rest } = key;
    const after = expiresAt === undefined ? before : (expiresAt ?? undefined);
    const quotaAfter = quota === undefined ? quotaBefore : changedQuota(quotaBefore, quota);
    requireQuotaChange(own, quotaBefore, quotaAfter);
    const changed: StoredApiKey = {
      ...rest,
      ...(name !== undefined && { name }),
      ...(scopes !== undefined && { scopes }),
      ...(after !== undefined && { expiresAt: after }),
      ...(quotaAfter !== undefined && { quota: quotaAfter }),
    };
    const isLonger = (after ?? Number.POSITIVE_INFINITY) > (before ?? Number.POSITIVE_INFINITY);
    if (isLonger || isWiderQuota(quotaBefore, quotaAfter)) requireGivable(services, caller, changed);
    return changed;
  });
}

/** Revokes a key. A repeated revocation changes nothing, and waits again until every host knows it. */
export async function revokeKey(services: KeyServices, caller: Principal, id: string): Promise<StoredApiKey> {
  const now = services.clock.now();
  return changeKey(services, caller, id, { action: 'key.revoked', now }, (key) =>
    key.ended === 'now' && key.endedBy === 'operation'
      ? undefined
      : { ...key, ended: 'now', endedBy: 'operation', revokedAt: Math.min(now, key.revokedAt ?? now) },
  );
}

/**
 * Replaces a key by a new one of the same authority. The caller learns the new key, so it needs that authority.
 *
 * @throws {HostError} `not_found`, `forbidden`, `validation_error` for a key that has ended
 */
export async function rotateKey(
  services: KeyServices,
  caller: Principal,
  id: string,
  { graceSeconds, expiresAt, save }: { graceSeconds: number; expiresAt: number | undefined; save: SaveKey },
): Promise<ShownKey & { readonly retired: StoredApiKey }> {
  const { store, clock, random } = services;
  const now = clock.now();
  requireLater('expiresAt', expiresAt, now);
  const own = await restrictionsOf(services, caller);
  const found = await reachedKey(services, caller, id);
  const { key, hash } = mintApiKey({ mode: found.mode, randomBytes: random });
  const newId = mintInOrder('key', clock, random);
  let record: StoredApiKey | undefined;
  const retired = await changeKey(services, caller, id, { action: 'key.rotated', now }, async (old, transaction) => {
    requireActive(old, now);
    if (old.rotatedTo !== undefined) {
      throw invalid({ field: 'path.keyId', problem: 'was rotated before. Rotate the key that replaced it' });
    }
    const { ended: _e, endedBy: _b, revokedAt: _r, lastUsedAt: _l, rotatedFrom: _f, expiresAt: before, ...kept } = old;
    const end = expiresAt ?? before;
    record = {
      ...kept,
      id: newId,
      hash,
      prefix: keyPrefix(key),
      createdAt: now,
      source: 'operation',
      rotatedFrom: old.id,
      ...(end !== undefined && { expiresAt: end }),
      // A rotation renews no quota.
      ...(old.quota !== undefined && { quota: { ...old.quota, account: accountOf(old) } }),
    };
    requireNotWider(own, record);
    requireGivable(services, caller, record);
    if (!(await store.apiKeys.add(record, transaction))) throw new Error('apiKeys: a minted id or hash is taken.');
    const revokedAt = Math.min(now + graceSeconds * 1000, old.revokedAt ?? Number.POSITIVE_INFINITY);
    const ended = graceSeconds === 0 ? 'now' : 'grace';
    const replaced: StoredApiKey = { ...old, rotatedTo: newId, ended, endedBy: 'operation', revokedAt };
    await save({ record, retired: replaced }, transaction);
    return replaced;
  });
  if (record === undefined) throw new Error('rotateKey: the change was not made.');
  return { key, record, retired };
}

type Change = (key: StoredApiKey, transaction: Transaction) => StoredApiKey | undefined | Promise<StoredApiKey>;

/** Changes a key in one transaction with its audit fact, and waits until every host knows the change. */
async function changeKey(
  services: KeyServices,
  caller: Principal,
  id: string,
  { action, now }: { action: 'key.updated' | 'key.rotated' | 'key.revoked'; now: number },
  change: Change,
): Promise<StoredApiKey> {
  const { store, recordAudit, keys } = services;
  // Judges the reach before the lock, and for a key that does not exist.
  await reachedKey(services, caller, id);
  const after = await store.transaction(async (transaction) => {
    if (action !== 'key.revoked') await requireStanding(services, caller, transaction);
    const before = await store.apiKeys.readForChange(id, transaction);
    if (before === undefined || !isStillReached(caller, before)) throw absent();
    const changed = await change(before, transaction);
    if (changed === undefined) return before;
    await store.apiKeys.replace(changed, transaction);
    await recordAudit(factAbout(caller, { action, target: id, at: now }), transaction);
    return changed;
  });
  await keys.settle(after);
  return after;
}

function isStillReached({ tenancy }: Principal, key: StoredApiKey): boolean {
  if (key.tenant !== tenancy.tenant || key.mode !== tenancy.mode) return false;
  return (
    excessOf({ tenancy, scopes: [], expiresAt: undefined }, { ...key, scopes: [], expiresAt: undefined }).length === 0
  );
}

/** The count goes on: a change of the limit does not renew it. */
function changedQuota(
  before: KeyQuota | undefined,
  asked: NonNullable<KeyChange['quota']> | null,
): KeyQuota | undefined {
  if (asked === null) return undefined;
  return { ...asked, ...(before?.account !== undefined && { account: before.account }) };
}

function statedKind({ kind }: Principal): 'user' | 'agent' | undefined {
  return kind === 'user' || kind === 'agent' ? kind : undefined;
}

function requireLater(field: string, time: number | undefined, now: number): void {
  if (time !== undefined && !(time > now)) throw invalid({ field, problem: 'must be in the future' });
}

function requireActive(key: StoredApiKey, now: number): void {
  const state = apiKeyState(key, now);
  if (state !== 'active') throw invalid({ field: 'path.keyId', problem: `is ${state}. Create another key` });
}

function requireOwnedByOperation({ source }: StoredApiKey): void {
  if (source === 'operation') return;
  throw invalid({ field: 'path.keyId', problem: 'is a key of the configuration. Change it there' });
}

function absent(): HostError<'not_found'> {
  return new HostError('not_found', 'There is no such key.', { details: undefined });
}
