import { type Decision, lacking, type ScopeRules } from './authorize.ts';
import { withinTime } from './deadline.ts';
import { type OptionNames, requireKnown } from './known-options.ts';
import { isOpaqueId, OPAQUE_ID_RULE } from './opaque-id.ts';
import type { Principal } from './principal.ts';
import { withImplied } from './scope-implications.ts';
import { areGrantable, grants, isGrantableScope } from './scopes.ts';
import type { Tenancy } from './tenancy.ts';

/** A role as discovery advertises it. It has exactly its own scopes: roles do not inherit. */
export interface Role {
  /** Name of the role, an opaque id. */
  readonly role: string;
  /** Scopes of the role. A segment may be `*`. */
  readonly scopes: readonly string[];
}

/** A role of a principal in one workspace. */
export interface RoleAssignment {
  /** Id of the workspace. */
  readonly workspace: string;
  /** Name of the role. A name that is not in the catalog grants nothing, unless the directory gives its scopes. */
  readonly role: string;
  /** The scopes of a role that the directory stores. They are used instead of those of the catalog. Default: those. */
  readonly scopes?: readonly string[] | undefined;
}

/** Stores role assignments. */
export interface RoleDirectory {
  /** Returns every role of a principal in a tenant. An empty list denies. */
  rolesOf(principal: string, tenant: string): readonly RoleAssignment[] | Promise<readonly RoleAssignment[]>;
}

/** Options of `roleAuthorizer`. */
export interface RoleAuthorizerOptions extends ScopeRules {
  /** The roles of the host. Their names are distinct. */
  readonly catalog: readonly Role[];
  /** Stores the assignments. When it fails or is late the caller is denied. */
  readonly directory: RoleDirectory;
  /** Time limit of a lookup in the directory, in milliseconds. Default 1000. */
  readonly timeoutMs?: number;
}

const ROLE_AUTHORIZER_OPTIONS: OptionNames<RoleAuthorizerOptions> = {
  implied: true,
  catalog: true,
  directory: true,
  timeoutMs: true,
};

/** A decision by roles, with the workspaces in which it holds. */
export type RoleDecision =
  | {
      /** True when a role allows the operation. */
      readonly allowed: true;
      /** The grant that covered the operation. */
      readonly by: 'role_granted';
      /** The tenancy of the caller, narrowed to the workspaces in which one role has every required scope. */
      readonly tenancy: Tenancy;
    }
  | Extract<Decision, { readonly allowed: false }>;

/** Decides by roles. Each role is held by one principal in one workspace. */
export interface RoleAuthorizer {
  /** The checked roles. */
  readonly catalog: readonly Role[];
  /**
   * Decides whether one role of the principal has every required scope.
   *
   * @throws {TypeError} when `required` is empty
   */
  authorize(principal: Principal, required: string | readonly string[]): Promise<RoleDecision>;
}

/**
 * Makes an authorizer by roles. It runs after `authorize`: the credential must hold the scope, and a role must have it,
 * in a workspace that the credential reaches. Anonymous actors have no roles. A directory that fails or is late denies.
 *
 * @throws {TypeError} when a role of the catalog is repeated, has a name that is not opaque, or has a malformed scope
 * @example
 * const roles = roleAuthorizer({ catalog: [{ role: 'operator', scopes: ['runs:*'] }], directory });
 * const decision = await roles.authorize(principal, 'runs:cancel');
 * if (decision.allowed) await findRun(decision.tenancy, runId);
 * @see Interface: Role-based authorization
 */
export function roleAuthorizer(options: RoleAuthorizerOptions): RoleAuthorizer {
  requireKnown('roleAuthorizer', options, ROLE_AUTHORIZER_OPTIONS);
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
      // One role must have every required scope: scopes of several roles are not combined.
      return held.some((assignment) => scopes.every((scope) => grants(scopesOfRole(assignment), scope)));
    });
  }

  function scopesOfRole({ role, scopes }: RoleAssignment): readonly string[] {
    if (scopes === undefined) return scopesOf.get(role) ?? [];
    return implied ? withImplied(scopes, implied) : scopes;
  }

  async function assignmentsOf(principal: string, tenant: string): Promise<readonly RoleAssignment[]> {
    try {
      const found = await withinTime('The directory', timeoutMs, directory.rolesOf(principal, tenant));
      return Array.isArray(found) ? found.filter(isAssignment) : [];
    } catch {
      return [];
    }
  }
}

/** A malformed assignment gives nothing, and the others stay. */
function isAssignment(found: unknown): found is RoleAssignment {
  if (typeof found !== 'object' || found === null || !('workspace' in found && 'role' in found)) return false;
  if (typeof found.workspace !== 'string' || typeof found.role !== 'string') return false;
  return !('scopes' in found) || found.scopes === undefined || areGrantable(found.scopes);
}

/**
 * Makes a directory of fixed assignments in memory.
 *
 * @example
 * const directory = memoryRoleDirectory([
 *   { principal: 'p_7f3a', tenant: 'acme', workspace: 'acme-prod', role: 'operator' },
 * ]);
 */
export function memoryRoleDirectory(
  assignments: Iterable<
    RoleAssignment & {
      /** Id of the principal. */
      readonly principal: string;
      /** Id of the tenant. */
      readonly tenant: string;
    }
  >,
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
