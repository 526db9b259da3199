import { AuthError } from '@svc/auth';
import type { ChangeServices } from '../audit/change-services.ts';
import { factAbout } from '../audit/fact.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { PortalSession } from '../ports/portal-sessions.ts';
import type { Random } from '../ports/random.ts';
import { sessionHolder } from './session-holder.ts';
import { digestOf, isSecret, mintSecret, sessionWith } from './session-secret.ts';
import { sessionState } from './session-state.ts';

/** A code as a page presents it. */
export interface PresentedCode {
  readonly code: string;
  /** The origin that the page may be embedded by; null when none may. Undefined: the caller is no page. */
  readonly origin?: string | null | undefined;
}

/**
 * Finds the session of a code.
 *
 * @throws {AuthError} `unauthenticated`, with the same words for a code that is unknown, used, expired or revoked, and for
 *   a page that may be embedded by another origin than that of the session
 */
export async function sessionOfCode(
  { store, clock }: Pick<HostPorts, 'store' | 'clock'>,
  { code, origin }: PresentedCode,
): Promise<PortalSession> {
  if (!isSecret('code', code)) throw notExchangeable();
  const digest = digestOf(code);
  const session = sessionWith('code', digest, await store.portalSessions.candidates('code', digest));
  if (session === undefined || sessionState(session, clock.now()) !== 'created') throw notExchangeable();
  if (origin !== undefined && origin !== (session.origin ?? null)) throw notExchangeable();
  return session;
}

/**
 * Exchanges the code of a session for its token, which is stored nowhere.
 *
 * @throws {AuthError} `unauthenticated` when another request has exchanged it meanwhile
 */
export async function exchangeCode(
  { store, clock, random, recordAudit }: ChangeServices & { readonly random: Random },
  session: PortalSession,
): Promise<string> {
  const { sessionId, tenancy } = session;
  const { secret, digest } = mintSecret('token', random);
  const at = clock.now();
  const target = `${tenancy.tenant}/${sessionId}`;
  const fact = factAbout(sessionHolder(session), { action: 'portal-session.exchange', target, at });
  await store.transaction(async (transaction) => {
    const isExchanged = await store.portalSessions.exchange(sessionId, { tokenDigest: digest, at }, transaction);
    if (!isExchanged) throw notExchangeable();
    await recordAudit(fact, transaction);
  });
  return secret;
}

function notExchangeable(): AuthError {
  const message = 'The code is unknown, used or expired. Open a new session.';
  return new AuthError('unauthenticated', message, undefined);
}
