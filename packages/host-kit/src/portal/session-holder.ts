import type { Principal } from '@svc/auth';
import type { PortalSession } from '../ports/portal-sessions.ts';

/** The lane of callers with the token of a session. */
export const PORTAL_LANE = 'portal';

/**
 * Returns the principal of a session: the caller that created it, within the workspaces of the session and without a
 * scope. No operation beside those of the portal accepts it.
 */
export function sessionHolder({ sessionId, tenancy, creator, expiresAt }: PortalSession): Principal {
  return {
    id: creator.principal,
    kind: undefined,
    credentialId: sessionId,
    lane: PORTAL_LANE,
    binding: 'bearer',
    tenancy,
    scopes: [],
    subject: creator.subject,
    expiresAt,
  };
}
