import { AuthError } from './errors.ts';
import type { RefusalReason } from './refusal-reason.ts';

/**
 * Makes the refusal of a request whose credential cannot be judged, because a store or an issuer does not answer. The
 * credential may be valid, so the challenge must not make the caller discard it.
 *
 * @param message for the caller; it says when to try again
 * @param reason the part that failed
 * @see RFC 9110, section 15.6.4
 */
export function outage(
  message: string,
  cause: unknown,
  reason: RefusalReason = 'internal',
): AuthError<'service_unavailable'> {
  const options = { cause, reason, rejected: false, retryAfterSeconds: 5 };
  return new AuthError('service_unavailable', message, undefined, options);
}
