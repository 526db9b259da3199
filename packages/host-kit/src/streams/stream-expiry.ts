import type { Principal } from '@svc/auth';

/**
 * The time at which a stream of a caller ends at the latest, in ms since the epoch; infinity for none. The stream of a
 * proof of possession ends after 5 minutes, because the proof cannot be checked again.
 */
export function streamExpiry(principal: Principal, now: number): number {
  const { expiresAt = Number.POSITIVE_INFINITY } = principal;
  return isJudgedOnce(principal) ? Math.min(expiresAt, now + JUDGED_ONCE_MS) : expiresAt;
}

/** Whether a credential is valid for one request alone: judged again, it would be rejected as its own replay. */
export function isJudgedOnce({ binding }: Pick<Principal, 'binding'>): boolean {
  return binding === 'dpop';
}

const JUDGED_ONCE_MS = 300_000;
