import { type Principal, reachesWorkspace } from '@svc/auth';
import { HostError } from '../errors.ts';

/**
 * Rejects a workspace that the caller is not a member of, or that the host does not have. The name of the tenant is not a
 * workspace.
 *
 * @param hasWorkspace returns true when the tenant has a workspace of that name
 * @throws {HostError} `forbidden`
 */
export function requireMembership(
  hasWorkspace: (tenant: string, workspace: string) => boolean,
  { tenancy, credentialId }: Principal,
  workspace: string,
): void {
  if (reachesWorkspace(tenancy, workspace)) {
    if (hasWorkspace(tenancy.tenant, workspace)) return;
    if (tenancy.workspaces !== 'all') throw unknownToHost(tenancy.tenant, workspace, credentialId);
  }
  throw new HostError('forbidden', `tenantId must name a workspace of your credential${namesOf(tenancy)}.`, {
    details: undefined,
  });
}

/** Returns the sentence for a request that names no workspace, without its full stop. */
export function namesWorkspace(tenancy: Principal['tenancy']): string {
  return `It names a workspace of your credential${namesOf(tenancy)}`;
}

/** The credential names the workspace, so the caller may know it, and only the operator can mend the mistake. */
function unknownToHost(tenant: string, workspace: string, credentialId: string): HostError {
  const message = `${workspace}: is a workspace of your credential, but the host does not have it. Ask the operator of the host.`;
  const cause = new Error(
    `authorization.hasWorkspace: returned false for the workspace ${workspace} of the tenant ${tenant}, which the credential ${credentialId} names. ` +
      'Let it return true for that workspace, or issue a credential with another one.',
  );
  return new HostError('forbidden', message, { details: undefined, cause });
}

/** The workspaces of the caller itself, which it may know. The name of another one is never told. */
function namesOf({ workspaces }: Principal['tenancy']): string {
  if (workspaces === 'all') return ', which has every workspace of its tenant';
  const more = workspaces.length > MOST_NAMES ? ' and others' : '';
  return `: ${workspaces.slice(0, MOST_NAMES).join(', ')}${more}`;
}

const MOST_NAMES = 5;
