import { type Decision, lacking, type ScopeRules } from './authorize.ts';
import { withinTime } from './deadline.ts';
import { isOpaqueId, OPAQUE_ID_RULE } from './opaque-id.ts';
import type { Principal } from './principal.ts';
import { withImplied } from './scope-implications.ts';
import { grants, isGrantableScope } from './scopes.ts';
import type { Tenancy } from './tenancy.ts';

/** A role as discovery advertises it. Its scopes are all that it gives: roles do not inherit. */
export interface Role {
  readonly role: string;
  readonly scopes: readonly string[];
}

/** A role that a principal has in one workspace. */
export interface RoleAssignment {
  readonly workspace: string;
  readonly role: string;
}

/** Where assignments are kept. */
export interface RoleDirectory {
  /** Every role of a principal in a tenant. None is an answer, and denies. */
  rolesOf(principal: string, tenant: string): readonly RoleAssignment[] | Promise<readonly RoleAssignment[]>;
}

export interface RoleAuthorizerOptions extends ScopeRules {
  readonly catalog: readonly Role[];
  readonly directory: RoleDirectory;
  /** How long the directory may take. Default 1000. */
  readonly timeoutMs?: number;
}

/** A decision, and where it holds. */
export type RoleDecision =
  | {
      readonly allowed: true;
      readonly by: 'role_granted';
      /** The caller's tenancy, narrowed to the workspaces in which a role gives what is required. */
      readonly tenancy: Tenancy;
    }
  | Extract<Decision, { readonly allowed: false }>;

/** Decides by roles, each held by one principal in one workspace. */
export interface RoleAuthorizer {
  readonly catalog: readonly Role[];
  authorize(principal: Principal, required: string | readonly string[]): Promise<RoleDecision>;
}

/**
 * Decides what roles allow. It is asked after `authorize`: the credential must hold the scope, and a role must give it in the
 * workspace. Whatever is absent, unknown, late or broken denies, and an anonymous actor has no role at all.
 *
 * @throws {TypeError} for a catalog that cannot be right
 * @example
 * const roles = roleAuthorizer({ catalog: [{ role: 'operator', scopes: ['runs:*'] }], directory });
 * const decision = await roles.authorize(principal, 'runs:cancel');
 * if (decision.allowed) await findRun(decision.tenancy, runId);
 * @see Interface: Role-based authorization
 */
export function roleAuthorizer(options: RoleAuthorizerOptions): RoleAuthorizer {
  const { directory, implied, timeoutMs = 1000 } = options;
  const catalog = options.catalog.map(checkedRole);
  const scopesOf = new Map(catalog.map(({ role, scopes }) => [role, implied ? withImplied(scopes, implied) : scopes]));
  if (scopesOf.size < catalog.length)
    throw new TypeError('roleAuthorizer: catalog must not name a role twice. Merge the entries.');

  return {
    catalog,
    async authorize(principal, required) {
      const scopes = typeof required === 'string' ? [required] : required;
      const [first] = scopes;
      if (first === undefined) throw new TypeError('authorize: required must name at least one scope.');
      const workspaces = await allowedWorkspaces(principal, scopes);
      if (workspaces.length === 0) return { allowed: false, error: lacking(first, scopes) };
      return { allowed: true, by: 'role_granted', tenancy: { ...principal.tenancy, workspaces } };
    },
  };

  async function allowedWorkspaces(principal: Principal, scopes: readonly string[]): Promise<readonly string[]> {
    if (principal.kind === 'anonymous') return [];
    const { tenant, workspaces: reach } = principal.tenancy;
    const assignments = await assignmentsOf(principal.id, tenant);
    const workspaces = new Set(assignments.map(({ workspace }) => workspace));
    return [...workspaces].filter((workspace) => {
      if (!isOpaqueId(workspace) || (reach !== 'all' && !reach.includes(workspace))) return false;
      const held = assignments.filter((assignment) => assignment.workspace === workspace);
      // One role must give all that is required: two halves of two roles are no role.
      return held.some(({ role }) => scopes.every((scope) => grants(scopesOf.get(role) ?? [], scope)));
    });
  }

  async function assignmentsOf(principal: string, tenant: string): Promise<readonly RoleAssignment[]> {
    try {
      const found = await withinTime('The directory', timeoutMs, directory.rolesOf(principal, tenant));
      return Array.isArray(found) ? found : [];
    } catch {
      return [];
    }
  }
}

/**
 * A directory of assignments that are given, and never change.
 *
 * @example
 * const directory = memoryRoleDirectory([{ principal: 'p_7f3a', tenant: 'acme', workspace: 'acme-prod', role: 'operator' }]);
 */
export function memoryRoleDirectory(
  assignments: Iterable<RoleAssignment & { readonly principal: string; readonly tenant: string }>,
): RoleDirectory {
  const held = new Map<string, RoleAssignment[]>();
  for (const { principal, tenant, workspace, role } of assignments) {
    const name = JSON.stringify([principal, tenant]);
    held.set(name, [...(held.get(name) ?? []), { workspace, role }]);
  }
  return { rolesOf: (principal, tenant) => held.get(JSON.stringify([principal, tenant])) ?? [] };
}

function checkedRole({ role, scopes }: Role): Role {
  if (!isOpaqueId(role)) throw new TypeError(`roleAuthorizer: catalog[].role must be ${OPAQUE_ID_RULE}.`);
  if (!scopes.every(isGrantableScope))
    throw new TypeError(`roleAuthorizer: scopes of ${role} must be like runs:read or runs:*.`);
  return { role, scopes: [...scopes] };
}
