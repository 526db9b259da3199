import { AuthError, type AuthOutcome, type Lane } from '@svc/auth';
import { activeKey } from '../keys/active-key.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { PortalSession } from '../ports/portal-sessions.ts';
import { PORTAL_LANE, sessionHolder } from './session-holder.ts';
import { digestOf, isSecret, sessionWith } from './session-secret.ts';
import { sessionState } from './session-state.ts';

interface PortalLaneOptions extends Pick<HostPorts, 'store' | 'clock'> {
  /** True: API keys are records of the store, and are judged by them. */
  readonly hasStoredKeys: boolean;
}

/**
 * Makes the lane of `Authorization: Bearer <token of a portal session>`. It reads the session and the API key of its creator for
 * each request, so a revocation of either holds at once on every host of the store.
 */
export function portalLane(options: PortalLaneOptions): Lane {
  const { store, clock } = options;
  return {
    name: PORTAL_LANE,
    async authenticate(_request, credential, admission): Promise<AuthOutcome | undefined> {
      if (credential?.scheme !== 'bearer') return undefined;
      const { token } = credential;
      if (!isSecret('token', token)) return refused();
      await admission.require();
      const digest = digestOf(token);
      const session = sessionWith('token', digest, await store.portalSessions.candidates('token', digest));
      if (session === undefined || sessionState(session, clock.now()) !== 'open') return refused();
      if (!(await hasStanding(options, session))) return refused();
      return { kind: 'authenticated', principal: sessionHolder(session) };
    },
  };
}

/** Whether the credential of the creator has not ended. A token has ended with its session at the latest. */
async function hasStanding(
  { hasStoredKeys, ...ports }: PortalLaneOptions,
  { tenancy, creator }: PortalSession,
): Promise<boolean> {
  if (!hasStoredKeys || creator.subject.lane !== 'api-key') return true;
  return (await activeKey(ports, { tenancy }, creator.credential))?.principal === creator.principal;
}

/** One answer for an unknown, an expired and a revoked token: the difference would tell which tokens were issued. */
function refused(): AuthOutcome {
  const message = 'The token of the portal session is unknown, expired or revoked. Open a new session.';
  return { kind: 'refused', error: new AuthError('unauthenticated', message, undefined) };
}
