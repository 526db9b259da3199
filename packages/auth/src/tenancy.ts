/**
 * What a caller may reach. Every read of a store takes it, so that isolation is in the query and not a check afterwards.
 *
 * @see Interface: Authorization rules, 1 to 4
 */
export interface Tenancy {
  readonly tenant: string;
  /** The workspaces of the tenant that are within reach; `'all'` includes what belongs to no workspace. */
  readonly workspaces: 'all' | readonly string[];
  /** Live and test data never meet. */
  readonly mode: 'live' | 'test';
}

/**
 * Whether a workspace of the tenant is within reach.
 *
 * @param workspace undefined for what belongs to the whole tenant, which only a caller of the whole tenant reaches
 * @example
 * reachesWorkspace({ workspaces: ['acme-prod'] }, 'acme-dev'); // false
 */
export function reachesWorkspace({ workspaces }: Pick<Tenancy, 'workspaces'>, workspace: string | undefined): boolean {
  return workspaces === 'all' || workspaces.some((reached) => reached === workspace);
}
