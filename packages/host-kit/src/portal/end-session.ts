import type { Principal } from '@svc/auth';
import type { ChangeServices } from '../audit/change-services.ts';
import { factAbout } from '../audit/fact.ts';
import { HostError } from '../errors.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { PortalSession } from '../ports/portal-sessions.ts';

/**
 * Finds a session of the caller's tenant and mode that reaches no workspace beyond those of the caller.
 *
 * @throws {HostError} `not_found`
 */
export async function reachedSession(
  { store }: Pick<HostPorts, 'store'>,
  { tenancy }: Principal,
  sessionId: string,
): Promise<PortalSession> {
  const session = await store.portalSessions.find(tenancy, sessionId);
  if (session !== undefined) return session;
  throw new HostError('not_found', 'There is no such portal session.', { details: undefined });
}

/**
 * Revokes a session: no request that begins after the answer is accepted, on any host of the store. A repetition changes
 * nothing.
 *
 * @throws {HostError} `not_found`
 */
export async function endSession(
  services: ChangeServices,
  principal: Principal,
  sessionId: string,
): Promise<PortalSession> {
  const { store, clock, recordAudit } = services;
  const { tenancy } = await reachedSession(services, principal, sessionId);
  const at = clock.now();
  const target = `${tenancy.tenant}/${sessionId}`;
  const fact = factAbout(principal, { action: 'portal-session.revoke', target, at });
  await store.transaction(async (transaction) => {
    if (await store.portalSessions.revoke(sessionId, at, transaction)) await recordAudit(fact, transaction);
  });
  return reachedSession(services, principal, sessionId);
}
