import type { Principal } from '../principal.ts';
import { grants, isScope } from '../scopes.ts';
import { reachesWorkspace, type Tenancy } from '../tenancy.ts';

/** The authority that a key gives its holder. */
export interface KeyGrant extends Tenancy {
  /** Scopes. A segment may be `*`. */
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch. Default: never. */
  readonly expiresAt?: number | undefined;
}

/** A part of a grant that the giver does not hold. */
export interface Excess {
  /** The field of the grant. */
  readonly field: 'tenant' | 'mode' | 'workspaces' | 'scopes' | 'expiresAt';
  /** The rule, without the values of the giver. */
  readonly problem: string;
}

/**
 * Returns the parts of a grant that exceed the authority of its giver; none when the giver may give it. A giver gives at
 * most its own tenant, mode, workspaces and scopes, and no longer than it is valid itself.
 *
 * @example
 * excessOf(principal, { ...principal.tenancy, scopes: ['runs:read'] }); // [] for a caller with runs:*
 */
export function excessOf(giver: Pick<Principal, 'tenancy' | 'scopes' | 'expiresAt'>, grant: KeyGrant): Excess[] {
  const { tenancy, scopes, expiresAt } = giver;
  const found: Excess[] = [];
  const require = (met: boolean, field: Excess['field'], problem: string) => {
    if (!met) found.push({ field, problem });
  };
  require(grant.tenant === tenancy.tenant, 'tenant', 'must be the tenant of the caller');
  require(grant.mode === tenancy.mode, 'mode', 'must be the mode of the caller');
  const isReached =
    grant.workspaces === 'all'
      ? tenancy.workspaces === 'all'
      : grant.workspaces.every((workspace) => reachesWorkspace(tenancy, workspace));
  require(isReached, 'workspaces', 'must be workspaces that the caller reaches');
  require(grant.scopes.every((scope) => holdsScope(scopes, scope)), 'scopes', 'must be scopes that the caller holds');
  // Negated, so that a time that is not a number exceeds every limit.
  const endsInTime = expiresAt === undefined || (grant.expiresAt !== undefined && !(grant.expiresAt > expiresAt));
  require(endsInTime && !Number.isNaN(grant.expiresAt), 'expiresAt', 'must not be later than the expiry of the caller');
  return found;
}

/**
 * Returns whether granted scopes cover a scope that is to be granted, which may have wildcards. A wildcard is covered by
 * a wildcard in the same segment alone.
 *
 * @example
 * holdsScope(['runs:*'], 'runs:read'); // true
 * holdsScope(['runs:read'], 'runs:*'); // false
 */
export function holdsScope(granted: readonly string[], wanted: string): boolean {
  if (isScope(wanted)) return grants(granted, wanted);
  const asked = wanted.split(':');
  return granted.some((scope) => {
    const held = scope.split(':');
    return held.length === asked.length && held.every((segment, at) => segment === '*' || segment === asked[at]);
  });
}
