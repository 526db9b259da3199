import { isOpaqueId } from './opaque-id.ts';

/**
 * The data that a caller may reach. Every read of a store takes it: isolation is part of the query, not a later check.
 *
 * @see Interface: Authorization rules, 1 to 4
 */
export interface Tenancy {
  /** Opaque id of the tenant. */
  readonly tenant: string;
  /** Reachable workspaces of the tenant. `'all'` includes data that belongs to no workspace. */
  readonly workspaces: 'all' | readonly string[];
  /** Live and test data are separate. */
  readonly mode: 'live' | 'test';
}

/**
 * Returns whether a workspace of the tenant is reachable.
 *
 * @param workspace undefined for data of the whole tenant, which only `'all'` reaches
 * @example
 * reachesWorkspace({ workspaces: ['acme-prod'] }, 'acme-dev'); // false
 */
export function reachesWorkspace({ workspaces }: Pick<Tenancy, 'workspaces'>, workspace: string | undefined): boolean {
  return workspaces === 'all' || workspaces.some((reached) => reached === workspace);
}

/**
 * Returns whether a value says which workspaces a credential reaches. `*` is refused: it would name one workspace where
 * the operator meant all of them.
 */
export function isReach(value: unknown): value is Tenancy['workspaces'] {
  if (value === 'all') return true;
  const isName = (name: unknown) => isOpaqueId(name) && name !== '*';
  return Array.isArray(value) && value.length > 0 && value.every(isName);
}
