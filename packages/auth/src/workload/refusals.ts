import { tokenRefusal } from '../bearer/token-refusal.ts';
import { AuthError } from '../errors.ts';
import { TokenFault } from '../jwt/signature.ts';
import type { RefusalReason } from '../refusal-reason.ts';

/**
 * Maps a fault to a refusal. An unreachable trust root has the code of a bad signature: the code must not tell them
 * apart. A status list is looked at after the signature is verified, so its outage is told as one.
 */
export function refusalOf(fault: TokenFault): AuthError {
  const { kind, message, cause, reason } = fault;
  if (reason === 'status-list') return tokenRefusal(fault);
  if (kind === 'outage') return unjudged('identity_unverified', `The identity is refused. ${message}`, cause, reason);
  if (kind === 'audience')
    return new AuthError('audience_mismatch', `The identity is refused. ${message}`, undefined, { reason });
  return unverifiedError(`The identity is refused. ${message}`, cause, reason);
}

/** Names the delegation as the reason: its token follows the rules of others, and is not the token of the caller. */
export function faultOfDelegation(error: unknown): never {
  if (!(error instanceof TokenFault) || error.kind === 'outage') throw error;
  throw new TokenFault(error.kind, error.message, { cause: error.cause, reason: 'delegation' });
}

/** Makes the refusal of an identity or a delegation that is not valid. */
export function unverifiedError(message: string, cause?: unknown, reason: RefusalReason = 'identity'): AuthError {
  return new AuthError('identity_unverified', message, undefined, { cause, reason });
}

/** Makes the refusal of an identity without a principal. */
export function unresolvable(): AuthError {
  return new AuthError('identity_unresolvable', UNRESOLVABLE, undefined);
}

export const UNRESOLVABLE =
  'The identity is bound to no principal of this host. Ask the operator of the host to bind it.';

/**
 * Makes the refusal of an identity that the host could not judge. Its code is that of an invalid identity, because the
 * reasons are a closed set. It counts against no limit, and the challenge does not make the caller discard the identity.
 *
 * @see Interface: Workload identity, verification rule 6
 */
export function unjudged(
  code: 'identity_unverified' | 'identity_unresolvable',
  message: string,
  cause: unknown,
  reason: RefusalReason,
): AuthError {
  return new AuthError(code, message, undefined, { cause, rejected: false, fault: 'host', reason });
}
