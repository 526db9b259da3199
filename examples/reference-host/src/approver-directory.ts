import type { ApproverDirectory } from '@svc/host-kit';
import type { Config } from './config.ts';

/** Resolves the groups of a configuration, and its role assignments if it has any. */
export function approverDirectory({ groups, authorization }: Config): ApproverDirectory {
  const assignments = authorization?.assignments;
  return {
    groupsOf: (principal, place) =>
      groups
        .filter(({ tenant, members }) => tenant === place.tenant && members.includes(principal))
        .map(({ id }) => id),
    ...(assignments !== undefined && {
      rolesOf: (principal, { tenant, workspace }) =>
        assignments
          .filter((one) => one.principal === principal && one.workspace === workspace && within(one.tenant, tenant))
          .map(({ role }) => role),
    }),
  };
}

/** An assignment without a tenant holds in every tenant that has its workspace. */
function within(assigned: string | undefined, tenant: string): boolean {
  return assigned === undefined || assigned === tenant;
}
