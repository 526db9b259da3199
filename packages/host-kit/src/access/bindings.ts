import { type Principal, reachesWorkspace, type Tenancy } from '@svc/auth';
import { holdsScope } from '@svc/auth/api-key';
import { workloadIdentitySchema } from '@svc/auth/workload';
import { factAbout } from '../audit/fact.ts';
import { HostError, invalid } from '../errors.ts';
import { ASSIGN_SCOPE, restrictionsOf } from '../keys/authority.ts';
import type { StoredBinding } from '../ports/access.ts';
import { assignmentLookup, roleLookup } from '../ports/access-lookup.ts';
import type { Transaction } from '../ports/transaction.ts';
import { type AccessServices, changeOf } from './access-parts.ts';
import { authorityOf, requireLive, tooMuch } from './authority.ts';
import { bindingId, principalOfWorkload } from './bound-workload.ts';
import { assignmentsIn } from './held-roles.ts';
import { requireEpoch, requireOwn, type SaveRecord } from './roles.ts';

/** The most bindings of a tenant. */
export const MOST_BINDINGS = 10_000;

/** A workload that a caller binds. */
export interface NewBinding extends Pick<StoredBinding, 'issuer' | 'subject' | 'principalKind' | 'scopes' | 'mode'> {
  /** Default: a principal of its own, made of the identity. */
  readonly principal?: string | undefined;
  /** Default: the workspaces that the caller reaches. */
  readonly workspaces?: Tenancy['workspaces'] | undefined;
}

/**
 * Binds a workload to a principal of the caller's tenant. The operator has granted its identity to the tenant, and the
 * caller holds all that the workload gets.
 *
 * @throws {HostError} `forbidden`, `validation_error`
 */
export async function bindWorkload(
  services: AccessServices,
  caller: Principal,
  asked: NewBinding,
  save: SaveRecord<StoredBinding>,
): Promise<StoredBinding> {
  const { store, clock, recordAudit } = services;
  requireLive(caller);
  requireSubject(asked);
  const { tenant } = caller.tenancy;
  const now = clock.now();
  const base = { kind: 'binding', tenant, epoch: 1, source: 'operation', createdAt: now, updatedAt: now } as const;
  const { principal = principalOfWorkload(tenant, asked), workspaces = caller.tenancy.workspaces, ...given } = asked;
  const added: StoredBinding = { ...base, ...given, id: bindingId(asked), principal, workspaces };
  const record = await changeOf(services, caller, async (transaction) => {
    await requireGivable(services, caller, added, transaction);
    const before = await store.access.find('binding', tenant, added.id, transaction);
    if (before?.kind === 'binding') {
      if (!isSame(before, added)) {
        throw invalid({ field: 'subject', problem: 'is bound. Change or remove that binding' });
      }
      await save(before, transaction);
      return before;
    }
    if ((await store.access.count('binding', tenant, transaction)) >= MOST_BINDINGS) {
      throw invalid({
        field: 'body',
        problem: `exceeds ${MOST_BINDINGS} bindings. Remove those that you do not need`,
      });
    }
    await store.access.put(added, transaction);
    await save(added, transaction);
    await recordAudit(factOf(caller, 'binding.created', added, now), transaction);
    return added;
  });
  await services.access.settle(record);
  return record;
}

/** Returns a binding of the caller's tenant whose workspaces it reaches. @throws {HostError} `not_found` */
export async function reachedBinding(
  { store }: Pick<AccessServices, 'store'>,
  { tenancy }: Principal,
  id: string,
  transaction?: Transaction,
): Promise<StoredBinding> {
  const found = await store.access.find('binding', tenancy.tenant, id, transaction);
  if (found?.kind === 'binding' && reachesAll(tenancy, found)) return found;
  throw new HostError('not_found', 'There is no such binding.', { details: undefined });
}

/** A change of a binding. Its identity and its principal stay. */
export interface BindingChange {
  readonly scopes?: readonly string[] | undefined;
  readonly workspaces?: Tenancy['workspaces'] | undefined;
  /** The change that the caller has read. Default: whichever is stored. */
  readonly epoch?: number | undefined;
}

/**
 * Changes the scopes and the workspaces of a binding. A caller that takes some away reaches the binding; one that adds
 * some could make the changed binding.
 *
 * @throws {HostError} `not_found`, `forbidden`; `validation_error` for another epoch, and for a binding of a configuration
 */
export async function updateBinding(
  services: AccessServices,
  caller: Principal,
  id: string,
  { scopes, workspaces, epoch }: BindingChange,
): Promise<StoredBinding> {
  const { store, clock, recordAudit } = services;
  requireLive(caller);
  const now = clock.now();
  const after = await changeOf(services, caller, async (transaction) => {
    const before = await reachedBinding(services, caller, id, transaction);
    requireOwn(before);
    requireEpoch(before, epoch);
    const changed: StoredBinding = {
      ...before,
      ...(scopes !== undefined && { scopes }),
      ...(workspaces !== undefined && { workspaces }),
      epoch: before.epoch + 1,
      updatedAt: now,
    };
    if (!isWithin(changed, before)) await requireGivable(services, caller, changed, transaction);
    await store.access.put(changed, transaction);
    await recordAudit(factOf(caller, 'binding.updated', changed, now), transaction);
    return changed;
  });
  await services.access.settle(after);
  return after;
}

/** Removes a binding. When it resolves, no host accepts its workload. @throws {HostError} `not_found`, `forbidden` */
export async function unbindWorkload(services: AccessServices, caller: Principal, id: string): Promise<void> {
  const { store, clock, recordAudit } = services;
  requireLive(caller);
  const removed = await changeOf(services, caller, async (transaction) => {
    const before = await reachedBinding(services, caller, id, transaction);
    requireOwn(before);
    await store.access.remove(before, transaction);
    await recordAudit(factOf(caller, 'binding.removed', before, clock.now()), transaction);
    return before;
  });
  await services.access.settle(removed);
}

/** Returns bindings that the caller reaches, by ascending id. */
export async function listBindings(
  { store }: Pick<AccessServices, 'store'>,
  { tenancy }: Principal,
  { after, limit, principal }: { after: string; limit: number; principal?: string | undefined },
): Promise<readonly StoredBinding[]> {
  const reached: StoredBinding[] = [];
  for (let from = after; ; ) {
    const found = await store.access.list('binding', tenancy.tenant, { after: from, limit: PAGE, principal });
    for (const record of found) if (record.kind === 'binding' && reachesAll(tenancy, record)) reached.push(record);
    const last = found.at(-1);
    if (reached.length >= limit || found.length < PAGE || last === undefined) return reached.slice(0, limit);
    from = last.id;
  }
}

const PAGE = 500;

/** The record of a workload refuses such a subject, so no caller could have it. */
function requireSubject({ issuer, subject }: NewBinding): void {
  if (!workloadIdentitySchema.safeParse({ scheme: 'spiffe', subject }).success) {
    throw invalid({ field: 'subject', problem: 'must be the subject of an identity, not a credential or a token' });
  }
  if (/^spiffe:\/\//i.test(issuer) && !subject.startsWith(`${issuer}/`)) {
    throw invalid({ field: 'subject', problem: 'must be a SPIFFE ID of the trust domain in issuer' });
  }
}

/** Requires that the operator granted the identity to the tenant, and that the caller holds all that the workload gets. */
async function requireGivable(
  services: AccessServices,
  caller: Principal,
  binding: StoredBinding,
  transaction: Transaction,
): Promise<void> {
  const { access, hasWorkspace, requireSignIn } = services;
  const { tenant, principal, workspaces, scopes } = binding;
  if (!access.isGranted(tenant, binding)) {
    const message =
      'issuer: this identity must be granted to the tenant first. Ask the operator of the host for a grant.';
    throw new HostError('forbidden', message, { details: undefined });
  }
  // The answer for a workspace that exists and is out of reach, so that neither is revealed.
  const isThere = workspaces === 'all' || workspaces.every((workspace) => hasWorkspace(tenant, workspace));
  if (!isThere || !reachesAll(caller.tenancy, binding)) {
    throw tooMuch('workspaces: must be workspaces that the caller reaches.');
  }
  if (!scopes.every((scope) => holdsScope(caller.scopes, scope))) {
    throw tooMuch('scopes: must be scopes that the caller holds.');
  }
  const isOwn = principal === caller.id || principal === principalOfWorkload(tenant, binding);
  if (!isOwn && !holdsScope(caller.scopes, ASSIGN_SCOPE)) {
    throw tooMuch(`principal: must be left out or be the caller, or the caller needs the scope ${ASSIGN_SCOPE}.`);
  }
  const { rateLimit, quota, allowedAddresses } = await restrictionsOf(services, caller);
  if (rateLimit !== undefined || quota !== undefined || allowedAddresses !== undefined) {
    throw tooMuch('The API key of the caller has a rateLimit, a quota or allowedAddresses, and a binding has none.');
  }
  if (access.hasRoles) await requireRoles(services, caller, binding, transaction);
  // Last: a caller that may not give the authority is not asked to sign in again for it.
  if (!isOwn) requireSignIn?.(ASSIGN_SCOPE, caller);
}

/** The workload gets the roles of its principal, within the scopes of the binding. */
async function requireRoles(
  { store }: AccessServices,
  caller: Principal,
  binding: StoredBinding,
  transaction: Transaction,
): Promise<void> {
  const { tenant, principal, workspaces, scopes } = binding;
  // A role is held in a workspace, so no caller holds it in those that are yet to come.
  if (workspaces === 'all') throw tooMuch('workspaces: must be names of workspaces on a host with roles.');
  const authority = await authorityOf(store, caller, transaction);
  for (const workspace of workspaces) authority.requireHeld(scopes, workspace);
  if (principal === caller.id) return;
  const found = await store.access.lookUp([assignmentLookup(tenant, principal), roleLookup(tenant)], transaction);
  for (const held of assignmentsIn(found, found, { principal, tenant })) {
    if (!workspaces.includes(held.workspace) || authority.holds(held.scopes, held.workspace)) continue;
    throw tooMuch(`principal: has a role in ${held.workspace} that the caller could not give.`);
  }
}

function reachesAll({ workspaces: reach }: Tenancy, { workspaces }: Pick<StoredBinding, 'workspaces'>): boolean {
  if (workspaces === 'all') return reach === 'all';
  return workspaces.every((workspace) => reachesWorkspace({ workspaces: reach }, workspace));
}

/** Whether a binding gives nothing that another one does not give. */
function isWithin(inner: StoredBinding, outer: StoredBinding): boolean {
  const isReached = inner.workspaces === 'all' ? outer.workspaces === 'all' : reachesAll({ ...outer }, inner);
  return isReached && inner.scopes.every((scope) => holdsScope(outer.scopes, scope));
}

function isSame(one: StoredBinding, other: StoredBinding): boolean {
  const granted = ({ principal, principalKind, mode, scopes, workspaces }: StoredBinding) =>
    JSON.stringify([
      ...[principal, principalKind ?? null, mode, [...scopes].sort()],
      workspaces === 'all' ? workspaces : [...workspaces].sort(),
    ]);
  return granted(one) === granted(other);
}

function factOf(
  caller: Principal,
  action: 'binding.created' | 'binding.updated' | 'binding.removed',
  { id, principal, workspaces }: StoredBinding,
  at: number,
) {
  const workspace = workspaces !== 'all' && workspaces.length === 1 ? workspaces[0] : undefined;
  return factAbout(caller, { action, target: id, at, workspace, details: { principal } });
}
