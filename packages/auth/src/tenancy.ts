/** What a caller may reach. Every read of a store takes it, so isolation is in the query and not a check afterwards. */
export interface Tenancy {
  readonly tenant: string;
  readonly workspaces: 'all' | readonly string[];
  /** Live and test data never meet. */
  readonly mode: 'live' | 'test';
}

/** Whether a workspace is within reach. What belongs to no workspace belongs to the tenant, and takes its whole reach. */
export function reachesWorkspace({ workspaces }: Pick<Tenancy, 'workspaces'>, workspace: string | undefined): boolean {
  if (workspaces === 'all') return true;
  return workspace !== undefined && workspaces.includes(workspace);
}
