import type { Principal } from '@svc/auth';

/**
 * Resolves the groups and roles that approvals name as their approvers. The host asks it at each answer, never when the
 * question is asked, so a principal that has left a group can no longer answer. When it fails or takes longer than a
 * second, the principal has no group and no role.
 *
 * @example
 * const approvers: ApproverDirectory = {
 *   groupsOf: async (principal, { tenant }) => database.groups(tenant, principal),
 * };
 */
export interface ApproverDirectory {
  /** Returns the groups of a principal. Absent: no approval can name a group. */
  groupsOf?(principal: string, place: ApproverPlace): readonly string[] | Promise<readonly string[]>;
  /** Returns the roles of a principal in a workspace. Absent: no approval can name a role. */
  rolesOf?(principal: string, place: ApproverPlace): readonly string[] | Promise<readonly string[]>;
}

/** The place of the run that asks. */
export interface ApproverPlace {
  readonly tenant: string;
  /** Absent: the run belongs to no workspace. */
  readonly workspace?: string;
}

/** The groups and roles of a principal at the time of its answer. */
export interface Standing {
  readonly groups: ReadonlySet<string>;
  readonly roles: ReadonlySet<string>;
}

/** Returns the standing of a caller in the place of a run. */
export type StandingOf = (principal: Principal, place: ApproverPlace) => Promise<Standing>;
