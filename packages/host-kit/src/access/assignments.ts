import { type Principal, reachesWorkspace } from '@svc/auth';
import { factAbout } from '../audit/fact.ts';
import { HostError, invalid } from '../errors.ts';
import type { StoredAssignment } from '../ports/access.ts';
import { assignmentLookup } from '../ports/access-lookup.ts';
import type { Transaction } from '../ports/transaction.ts';
import { type AccessServices, changeOf } from './access-parts.ts';
import { authorityOf, requireLive, tooMuch } from './authority.ts';
import { assignmentId } from './held-roles.ts';
import { requireOwn, type SaveRecord } from './roles.ts';
import { isOwn } from './withdraw.ts';

/** The most assignments of a tenant, and of a principal in it. */
const MOST_ASSIGNMENTS = { tenant: 10_000, principal: 500 } as const;

/** A role that a principal gets in a workspace. */
export type NewAssignment = Pick<StoredAssignment, 'principal' | 'workspace' | 'role'>;

/**
 * Gives another principal a role in a workspace. The caller holds all scopes of the role there, by one role of its own.
 *
 * @throws {HostError} `forbidden`, `validation_error`
 */
export async function assign(
  services: AccessServices,
  caller: Principal,
  asked: NewAssignment,
  save: SaveRecord<StoredAssignment>,
): Promise<StoredAssignment> {
  const { store, clock, recordAudit, hasWorkspace } = services;
  requireLive(caller);
  const { tenant } = caller.tenancy;
  const { principal, workspace } = asked;
  const id = assignmentId(asked);
  const now = clock.now();
  const base = { kind: 'assignment', tenant, epoch: 1, source: 'operation', createdAt: now, updatedAt: now } as const;
  // The answer for a workspace that exists and is out of reach, so that neither is revealed.
  if (!hasWorkspace(tenant, workspace) || !reachesWorkspace(caller.tenancy, workspace)) {
    throw tooMuch('workspace: must be a workspace that the caller reaches.');
  }
  requireOther(caller, principal);
  const record = await changeOf(services, caller, async (transaction) => {
    await requireGivable(services, caller, asked, transaction);
    const before = await store.access.find('assignment', tenant, id, transaction);
    if (before?.kind === 'assignment') {
      await save(before, transaction);
      return before;
    }
    await requireRoom(services, { tenant, principal }, transaction);
    const added: StoredAssignment = { ...base, id, ...asked };
    await store.access.put(added, transaction);
    await save(added, transaction);
    await recordAudit(factOf(caller, 'assignment.created', added, now), transaction);
    return added;
  });
  await services.access.settle(record);
  return record;
}

/** Returns an assignment of the caller's tenant in a workspace that it reaches. @throws {HostError} `not_found` */
export async function reachedAssignment(
  { store }: Pick<AccessServices, 'store'>,
  { tenancy }: Principal,
  id: string,
  transaction?: Transaction,
): Promise<StoredAssignment> {
  const found = await store.access.find('assignment', tenancy.tenant, id, transaction);
  if (found?.kind === 'assignment' && reachesWorkspace(tenancy, found.workspace)) return found;
  throw new HostError('not_found', 'There is no such assignment.', { details: undefined });
}

/** Takes a role from another principal. The caller could give it. @throws {HostError} `not_found`, `forbidden`, `validation_error` */
export async function unassign(services: AccessServices, caller: Principal, id: string): Promise<void> {
  const { store, clock, recordAudit } = services;
  requireLive(caller);
  const removed = await changeOf(services, caller, async (transaction) => {
    const before = await reachedAssignment(services, caller, id, transaction);
    requireOwn(before);
    requireOther(caller, before.principal);
    await requireGivable(services, caller, before, transaction);
    await store.access.remove(before, transaction);
    await recordAudit(factOf(caller, 'assignment.removed', before, clock.now()), transaction);
    return before;
  });
  await services.access.settle(removed);
}

/** Returns assignments that the caller reaches, by ascending id. */
export async function listAssignments(
  { store }: Pick<AccessServices, 'store'>,
  { tenancy }: Principal,
  {
    after,
    limit,
    ...filter
  }: { after: string; limit: number; principal?: string | undefined; role?: string | undefined },
): Promise<readonly StoredAssignment[]> {
  const reached: StoredAssignment[] = [];
  for (let from = after; ; ) {
    const found = await store.access.list('assignment', tenancy.tenant, { after: from, limit: PAGE, ...filter });
    for (const record of found) {
      if (record.kind === 'assignment' && reachesWorkspace(tenancy, record.workspace)) reached.push(record);
    }
    const last = found.at(-1);
    if (reached.length >= limit || found.length < PAGE || last === undefined) return reached.slice(0, limit);
    from = last.id;
  }
}

const PAGE = 500;

async function requireGivable(
  { store }: AccessServices,
  caller: Principal,
  { role, workspace }: NewAssignment,
  transaction: Transaction,
): Promise<void> {
  const found = await store.access.find('role', caller.tenancy.tenant, role, transaction);
  if (found?.kind !== 'role') throw invalid({ field: 'role', problem: 'must be the name of a role. Create it first' });
  (await authorityOf(store, caller, transaction)).requireHeld(found.scopes, workspace);
}

async function requireRoom(
  { store }: AccessServices,
  { tenant, principal }: { readonly tenant: string; readonly principal: string },
  transaction: Transaction,
): Promise<void> {
  const full = (most: number, whose: string) =>
    invalid({
      field: 'body',
      problem: `exceeds ${most} assignments of the ${whose}. Remove those that you do not need`,
    });
  const own = await store.access.lookUp([assignmentLookup(tenant, principal)], transaction);
  if (own.length >= MOST_ASSIGNMENTS.principal) throw full(MOST_ASSIGNMENTS.principal, 'principal');
  const all = await store.access.count('assignment', tenant, transaction);
  if (all >= MOST_ASSIGNMENTS.tenant) throw full(MOST_ASSIGNMENTS.tenant, 'tenant');
}

/** Another caller has to confirm what a caller may do, and its own mistake cannot lock it out. */
function requireOther(caller: Principal, principal: string): void {
  if (!isOwn(caller, principal)) return;
  const message = 'principal: must not be the caller. Another caller with the scope roles:manage changes its roles.';
  throw new HostError('forbidden', message, { details: undefined });
}

function factOf(
  caller: Principal,
  action: 'assignment.created' | 'assignment.removed',
  record: StoredAssignment,
  at: number,
) {
  const { id, workspace, principal, role } = record;
  return factAbout(caller, { action, target: id, at, workspace, details: { principal, role } });
}
