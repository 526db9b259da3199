import type { ConfiguredAssignment, ConfiguredRoles } from '@svc/host-kit';
import type { Config } from './config.ts';

/** The roles and assignments of a configuration, for each of its tenants. Undefined: roles decide nothing. */
export function configuredRoles({ authorization, tenants }: Config): ConfiguredRoles | undefined {
  if (authorization === undefined) return undefined;
  const assignments = authorization.assignments.flatMap(({ principal, workspace, role, tenant }) =>
    tenants
      .filter(({ id, workspaces }) => (tenant === undefined || tenant === id) && workspaces.includes(workspace))
      .map(({ id }): ConfiguredAssignment => ({ principal, tenant: id, workspace, role })),
  );
  return { tenants: tenants.map(({ id }) => id), catalog: authorization.roles, assignments };
}
