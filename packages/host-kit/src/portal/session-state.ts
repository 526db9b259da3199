import type { PortalSession } from '../ports/portal-sessions.ts';

/**
 * The state of a session: `created` until its code is exchanged, `open` while its token is accepted, then `expired` or
 * `revoked`. A session whose code has expired unused is `expired`.
 */
export type PortalSessionState = 'created' | 'open' | 'expired' | 'revoked';

/** Returns the state of a session at a time, in ms since the epoch. */
export function sessionState(
  { revokedAt, exchangedAt, expiresAt, codeExpiresAt }: PortalSession,
  now: number,
): PortalSessionState {
  if (revokedAt !== undefined) return 'revoked';
  // Negated, so that a clock that returns NaN ends the session.
  if (!(now < expiresAt)) return 'expired';
  if (exchangedAt !== undefined) return 'open';
  return now < codeExpiresAt ? 'created' : 'expired';
}
