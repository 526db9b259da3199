import { createHash } from 'node:crypto';
import type { RoleAssignment } from '@svc/auth';
import type { AccessRecord, StoredAssignment } from '../ports/access.ts';

/** Returns the assignments of a principal with the scopes of their roles. An assignment of a role that is gone grants nothing. */
export function assignmentsIn(
  held: readonly AccessRecord[],
  roles: readonly AccessRecord[],
  { principal, tenant }: { readonly principal: string; readonly tenant: string },
): readonly (RoleAssignment & { readonly scopes: readonly string[] })[] {
  const scopes = scopesByRole(roles, tenant);
  return held.flatMap((record) =>
    record.kind === 'assignment' && record.tenant === tenant && record.principal === principal
      ? [{ workspace: record.workspace, role: record.role, scopes: scopes.get(record.role) ?? [] }]
      : [],
  );
}

/** The list of the roles of a tenant is the same object for as long as it is in memory. */
function scopesByRole(roles: readonly AccessRecord[], tenant: string): ReadonlyMap<string, readonly string[]> {
  const known = BY_ROLE.get(roles);
  if (known?.tenant === tenant) return known.scopes;
  const scopes = new Map<string, readonly string[]>();
  for (const role of roles) if (role.kind === 'role' && role.tenant === tenant) scopes.set(role.id, role.scopes);
  BY_ROLE.set(roles, { tenant, scopes });
  return scopes;
}

const BY_ROLE = new WeakMap<
  readonly AccessRecord[],
  { readonly tenant: string; readonly scopes: ReadonlyMap<string, readonly string[]> }
>();

/** Names an assignment by what it gives, so that a repeated one is the same record. */
export function assignmentId({
  principal,
  workspace,
  role,
}: Pick<StoredAssignment, 'principal' | 'workspace' | 'role'>): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([principal, workspace, role]))
    .digest('hex');
  return `asg_${digest.slice(0, 32)}`;
}
