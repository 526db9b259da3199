import { isOpaqueId, OPAQUE_ID_RULE } from '../opaque-id.ts';
import { areGrantable } from '../scopes.ts';
import { isReach, type Tenancy } from '../tenancy.ts';

/** The principal of an identity, with its grants. */
export interface WorkloadBinding {
  /** Opaque id of the principal, never personal data. */
  readonly principal: string;
  /** The stated kind. Default: a workload. */
  readonly principalKind?: 'user' | 'agent' | undefined;
  /** Opaque id of the tenant. */
  readonly tenant: string;
  /** Reachable workspaces of the tenant. */
  readonly workspaces: Tenancy['workspaces'];
  /** Scopes. A segment may be `*`. */
  readonly scopes: readonly string[];
  /** The data that the principal reaches. */
  readonly mode: Tenancy['mode'];
}

/**
 * Checks the answer of a resolver. Returns a copy with the fields of a binding only.
 *
 * @throws {TypeError} that names the field, never its value
 */
export function checkedBinding(found: WorkloadBinding): WorkloadBinding {
  const { principal, principalKind, tenant, workspaces, scopes, mode } = found;
  const need = (met: boolean, field: string, expected: string) => {
    if (!met) throw new TypeError(`resolve: ${field} must be ${expected}.`);
  };
  need(isOpaqueId(principal), 'principal', OPAQUE_ID_RULE);
  need(principalKind === undefined || KINDS.has(principalKind), 'principalKind', 'user or agent, or left out');
  need(isOpaqueId(tenant), 'tenant', OPAQUE_ID_RULE);
  need(isReach(workspaces), 'workspaces', `"all", or a list of at least one workspace, each ${OPAQUE_ID_RULE}`);
  need(areGrantable(scopes), 'scopes', 'a list of scopes such as runs:read or runs:*');
  need(mode === 'live' || mode === 'test', 'mode', 'live or test');
  return { principal, principalKind, tenant, workspaces, scopes: [...scopes], mode };
}

const KINDS: ReadonlySet<string> = new Set(['user', 'agent']);
