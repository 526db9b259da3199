import { type Principal, reachesWorkspace } from '@svc/auth';
import { holdsScope } from '@svc/auth/api-key';
import { factAbout } from '../audit/fact.ts';
import { HostError, invalid } from '../errors.ts';
import type { AccessRecord, StoredRole } from '../ports/access.ts';
import type { Transaction } from '../ports/transaction.ts';
import { type AccessServices, changeOf } from './access-parts.ts';
import { authorityOf, requireLive, tooMuch } from './authority.ts';

/** The most roles of a tenant. */
export const MOST_ROLES = 200;

/** Stores the reply in the transaction of the change. */
export type SaveRecord<R extends AccessRecord> = (record: R, transaction: Transaction) => Promise<void>;

/**
 * Makes a role of the caller's tenant.
 *
 * @throws {HostError} `forbidden` for scopes that no role of the caller has together; `validation_error` for a taken name
 */
export async function createRole(
  services: AccessServices,
  caller: Principal,
  { role: id, scopes }: { readonly role: string; readonly scopes: readonly string[] },
  save: SaveRecord<StoredRole>,
): Promise<StoredRole> {
  const { store, clock, recordAudit } = services;
  requireLive(caller);
  const { tenant } = caller.tenancy;
  const now = clock.now();
  const base = { kind: 'role', tenant, epoch: 1, source: 'operation', createdAt: now, updatedAt: now } as const;
  const record: StoredRole = { ...base, id, scopes };
  await changeOf(services, caller, async (transaction) => {
    // Assignments of a role that is gone would hold again.
    await requireGivable(services, caller, record, transaction);
    if ((await store.access.find('role', tenant, id, transaction)) !== undefined) {
      throw invalid({ field: 'role', problem: 'is the name of a role. Change that role, or choose another name' });
    }
    if ((await store.access.count('role', tenant, transaction)) >= MOST_ROLES) {
      throw invalid({ field: 'role', problem: `exceeds ${MOST_ROLES} roles. Remove those that you do not need` });
    }
    await store.access.put(record, transaction);
    await save(record, transaction);
    await recordAudit(factAbout(caller, { action: 'role.created', target: id, at: now }), transaction);
  });
  await services.access.settle(record);
  return record;
}

/** Returns a role of the caller's tenant. @throws {HostError} `not_found` */
export async function reachedRole(
  { store }: Pick<AccessServices, 'store'>,
  { tenancy }: Principal,
  id: string,
  transaction?: Transaction,
): Promise<StoredRole> {
  const found = await store.access.find('role', tenancy.tenant, id, transaction);
  if (found?.kind === 'role') return found;
  throw new HostError('not_found', 'There is no such role.', { details: undefined });
}

/**
 * Changes the scopes of a role. The caller reaches every workspace in which the role is assigned, and holds further scopes
 * in each of them.
 *
 * @param epoch the change that the caller has read; undefined: whichever is stored
 * @throws {HostError} `not_found`, `forbidden`; `validation_error` for another epoch, and for a role of a configuration
 */
export async function updateRole(
  services: AccessServices,
  caller: Principal,
  id: string,
  { scopes, epoch }: { readonly scopes: readonly string[]; readonly epoch: number | undefined },
): Promise<StoredRole> {
  const { store, clock, recordAudit } = services;
  requireLive(caller);
  const now = clock.now();
  const after = await changeOf(services, caller, async (transaction) => {
    const before = await reachedRole(services, caller, id, transaction);
    requireOwn(before);
    requireEpoch(before, epoch);
    const changed: StoredRole = { ...before, scopes, epoch: before.epoch + 1, updatedAt: now };
    if (scopes.every((scope) => holdsScope(before.scopes, scope))) {
      requireReach(caller, await workspacesOf(services, before, transaction));
    } else await requireGivable(services, caller, changed, transaction);
    await store.access.put(changed, transaction);
    await recordAudit(factAbout(caller, { action: 'role.updated', target: id, at: now }), transaction);
    return changed;
  });
  await services.access.settle(after);
  return after;
}

/** Removes a role that is assigned nowhere. @throws {HostError} `not_found`, `validation_error` */
export async function removeRole(services: AccessServices, caller: Principal, id: string): Promise<void> {
  const { store, clock, recordAudit } = services;
  requireLive(caller);
  const removed = await changeOf(services, caller, async (transaction) => {
    const before = await reachedRole(services, caller, id, transaction);
    requireOwn(before);
    if ((await workspacesOf(services, before, transaction)).length > 0) {
      throw invalid({ field: 'path.role', problem: 'is assigned. Remove its assignments first' });
    }
    await store.access.remove(before, transaction);
    await recordAudit(factAbout(caller, { action: 'role.removed', target: id, at: clock.now() }), transaction);
    return before;
  });
  await services.access.settle(removed);
}

/** Requires that the caller holds the scopes of a role wherever it is assigned. @throws {HostError} `forbidden` */
async function requireGivable(
  services: AccessServices,
  caller: Principal,
  role: StoredRole,
  transaction: Transaction,
): Promise<void> {
  const workspaces = await workspacesOf(services, role, transaction);
  requireReach(caller, workspaces);
  const authority = await authorityOf(services.store, caller, transaction);
  authority.requireHeldSomewhere(role.scopes);
  for (const workspace of workspaces) authority.requireHeld(role.scopes, workspace);
}

/** The workspaces in which a role is assigned. */
async function workspacesOf(
  { store }: AccessServices,
  { tenant, id }: StoredRole,
  transaction: Transaction,
): Promise<readonly string[]> {
  const workspaces = new Set<string>();
  for (let after = ''; ; ) {
    const page = { after, limit: PAGE, role: id };
    const found = await store.access.list('assignment', tenant, page, transaction);
    for (const record of found) if (record.kind === 'assignment') workspaces.add(record.workspace);
    const last = found.at(-1);
    if (found.length < PAGE || last === undefined) return [...workspaces];
    after = last.id;
  }
}

const PAGE = 500;

function requireReach({ tenancy }: Principal, workspaces: readonly string[]): void {
  if (workspaces.every((workspace) => reachesWorkspace(tenancy, workspace))) return;
  throw tooMuch('role: is assigned in workspaces that the caller does not reach.');
}

export function requireOwn({ source, kind }: AccessRecord): void {
  if (source === 'operation') return;
  const field = kind === 'role' ? 'path.role' : `path.${kind}Id`;
  throw invalid({ field, problem: 'is of the configuration. Change it there' });
}

export function requireEpoch({ epoch, kind }: AccessRecord, expected: number | undefined): void {
  if (expected === undefined || expected === epoch) return;
  throw invalid({
    field: 'epoch',
    problem: `must be that of the ${kind}, ${epoch}: it was changed meanwhile. Read it again`,
  });
}
