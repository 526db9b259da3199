import type { Principal } from '@svc/auth';
import { reachesWorkspace, type Tenancy } from '@svc/auth';
import type { ChangeServices } from '../audit/change-services.ts';
import { factAbout } from '../audit/fact.ts';
import { HostError } from '../errors.ts';
import { mintInOrder } from '../ids-in-order.ts';
import type { PortalSession } from '../ports/portal-sessions.ts';
import type { Random } from '../ports/random.ts';
import { mintSecret } from './session-secret.ts';

export interface CreateSessionOptions extends ChangeServices {
  readonly random: Random;
  /** The most sessions of a tenant that have not ended, in live and in test mode each. */
  readonly maxOpenPerTenant: number;
}

/** A session that a caller asks for. */
export interface AskedSession extends Pick<PortalSession, 'eventTypes' | 'actions' | 'origin' | 'theme'> {
  /** Undefined: those of the caller. */
  readonly workspaces: Tenancy['workspaces'] | undefined;
  readonly lifetimeMs: number;
}

/**
 * Creates a session of the portal in the tenant and mode of the caller, and returns it with its one-time code, which is
 * stored nowhere. It ends with the credential of the caller at the latest.
 *
 * @throws {HostError} `forbidden` for a workspace that the caller does not reach, `validation_error` when the tenant has
 *   too many open sessions
 */
export async function createSession(
  { store, clock, random, recordAudit, maxOpenPerTenant }: CreateSessionOptions,
  principal: Principal,
  { workspaces = principal.tenancy.workspaces, lifetimeMs, ...asked }: AskedSession,
): Promise<{ readonly session: PortalSession; readonly code: string }> {
  requireReach(principal.tenancy, workspaces);
  const now = clock.now();
  const { secret: code, digest: codeDigest } = mintSecret('code', random);
  const expiresAt = Math.min(now + lifetimeMs, principal.expiresAt ?? Number.MAX_SAFE_INTEGER);
  const { tenant, mode } = principal.tenancy;
  const session: PortalSession = {
    ...asked,
    sessionId: mintInOrder('pts', clock, random),
    tenancy: { tenant, workspaces, mode },
    creator: { principal: principal.id, credential: principal.credentialId, subject: principal.subject },
    createdAt: now,
    expiresAt,
    codeDigest,
    codeExpiresAt: Math.min(now + CODE_LIFETIME_MS, expiresAt),
    tokenDigest: undefined,
    exchangedAt: undefined,
    revokedAt: undefined,
  };
  const fact = factAbout(principal, {
    action: 'portal-session.create',
    target: `${tenant}/${session.sessionId}`,
    at: now,
    details: {
      actions: asked.actions.join(' '),
      workspaces: workspaces === 'all' ? '*' : workspaces.join(' '),
      eventTypes: asked.eventTypes === 'all' ? '*' : asked.eventTypes.length,
      origin: asked.origin ?? 'none',
      expiresAt: new Date(expiresAt).toISOString(),
    },
  });
  await store.transaction(async (transaction) => {
    const open = await store.portalSessions.countOpen({ tenant, mode }, now, transaction);
    if (open >= maxOpenPerTenant) throw tooMany(maxOpenPerTenant);
    await store.portalSessions.insert(session, transaction);
    await recordAudit(fact, transaction);
  });
  return { session, code };
}

/** The time in which a code must be exchanged. */
const CODE_LIFETIME_MS = 60_000;

/** One answer for a workspace of others and for one that does not exist. */
function requireReach(reach: Tenancy, workspaces: Tenancy['workspaces']): void {
  const asked = workspaces === 'all' ? [undefined] : workspaces;
  if (asked.every((workspace) => reachesWorkspace(reach, workspace))) return;
  throw new HostError('forbidden', 'This credential does not reach every workspace of the session. Ask for fewer.', {
    details: undefined,
  });
}

function tooMany(most: number): HostError {
  const problem = `must be fewer than ${most} that have not ended; revoke sessions, or give them shorter lifetimes`;
  return new HostError('validation_error', `portalSessions: ${problem}`, {
    details: { fields: [{ field: 'portalSessions', problem }] },
  });
}
