import { type Principal, reachesWorkspace } from '@svc/auth';
import { holdsScope } from '@svc/auth/api-key';
import { HostError } from '../errors.ts';
import type { AccessRecord } from '../ports/access.ts';
import { assignmentLookup, roleLookup } from '../ports/access-lookup.ts';
import type { Store } from '../ports/store.ts';
import type { Transaction } from '../ports/transaction.ts';
import { assignmentsIn } from './held-roles.ts';

/** The authority of a caller, as it is within one transaction. */
export interface Authority {
  /**
   * Requires that the caller could use scopes itself in a workspace: its credential has all of them, and one of its roles
   * there, too. Scopes of several roles are not combined, as in each decision.
   *
   * @throws {HostError} `forbidden`
   */
  requireHeld(scopes: readonly string[], workspace: string): void;
  /** Returns whether `requireHeld` passes. */
  holds(scopes: readonly string[], workspace: string): boolean;
  /** Requires that the caller could use scopes in at least one workspace. @throws {HostError} `forbidden` */
  requireHeldSomewhere(scopes: readonly string[]): void;
}

/** Reads the authority of a caller. The transaction holds its tenant. */
export async function authorityOf(
  store: Pick<Store, 'access'>,
  { id, scopes: granted, tenancy }: Principal,
  transaction: Transaction,
): Promise<Authority> {
  const { tenant } = tenancy;
  const lookups = [assignmentLookup(tenant, id), roleLookup(tenant)];
  const found: readonly AccessRecord[] = await store.access.lookUp(lookups, transaction);
  const roles = assignmentsIn(found, found, { principal: id, tenant });
  const covers = (held: readonly string[], scopes: readonly string[]) =>
    scopes.every((scope) => holdsScope(held, scope));
  const holdsIn = (scopes: readonly string[], workspace: string) =>
    covers(granted, scopes) &&
    reachesWorkspace(tenancy, workspace) &&
    roles.some((role) => role.workspace === workspace && covers(role.scopes, scopes));
  return {
    holds: holdsIn,
    requireHeld(scopes, workspace) {
      if (!holdsIn(scopes, workspace))
        throw tooMuch(`scopes: one role of the caller in ${workspace} must have them all.`);
    },
    requireHeldSomewhere(scopes) {
      if (roles.some(({ workspace }) => holdsIn(scopes, workspace))) return;
      throw tooMuch('scopes: one role of the caller must have them all.');
    },
  };
}

/** The refusal of a change that gives more than the caller holds. */
export function tooMuch(problem: string): HostError<'forbidden'> {
  const message = `${problem} A caller gives and takes only authority that it holds.`;
  return new HostError('forbidden', message, { details: undefined });
}

/**
 * Requires a caller of live data. Roles hold for both modes, so that a credential for tests would give authority over live
 * data.
 *
 * @throws {HostError} `forbidden`
 */
export function requireLive({ tenancy }: Principal): void {
  if (tenancy.mode === 'live') return;
  const message = 'Roles hold for live data, too. Use a credential of the mode live.';
  throw new HostError('forbidden', message, { details: undefined });
}
