import type { Tenancy } from '@svc/auth';
import { scopeDiscovery } from './scope.ts';

/** The families that each workspace sees in discovery. */
export interface WorkspaceDiscovery {
  /** Returns the workspaces of a tenant. A credential for all of them sees the families that each of them sees. */
  readonly workspacesOf: (tenant: string) => readonly string[];
  /** Returns the families that a workspace sees, as either major names them. Undefined: every family. */
  readonly familiesOf: (tenant: string, workspace: string) => readonly string[] | undefined;
}

/**
 * Returns the part of a document that a caller may see: the families that each workspace of the caller sees. A view of
 * more workspaces never has a family that the view of fewer lacks.
 *
 * @see Interface: Authorization rules, item 5
 */
export function workspaceView(document: object, { tenant, workspaces }: Tenancy, views: WorkspaceDiscovery): object {
  const own = workspaces === 'all' ? views.workspacesOf(tenant) : workspaces;
  const limits = own.flatMap((workspace) => {
    const families = views.familiesOf(tenant, workspace);
    return families === undefined ? [] : [new Set(families)];
  });
  // A caller without a workspace sees no family.
  const [first, ...others] = own.length === 0 ? [new Set<string>()] : limits;
  if (first === undefined) return document;
  const visible = [...first].filter((family) => others.every((other) => other.has(family)));
  return scopeDiscovery({ ...document }, new Set(visible));
}
