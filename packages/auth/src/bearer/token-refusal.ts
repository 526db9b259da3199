import { AuthError } from '../errors.ts';
import type { TokenFault } from '../jwt/signature.ts';
import { outage } from '../outage.ts';

/** Makes the refusal of a token from its fault. An outage says nothing about the token. */
export function tokenRefusal({ kind, message, cause, reason }: TokenFault): AuthError {
  if (kind === 'outage') {
    return outage('The token cannot be verified at the moment. Try again in a few seconds.', cause, reason);
  }
  return new AuthError(CODES[kind], `The token is refused. ${message}`, undefined, { cause, reason });
}

const CODES = {
  unverified: 'unauthenticated',
  expired: 'unauthenticated',
  audience: 'audience_mismatch',
  lifetime: 'credential_lifetime_exceeded',
} as const;

/** Makes the refusal of a token without a sender constraint, for an issuer whose tokens must have one. */
export function unboundToken(): AuthError {
  const message = 'Tokens of this issuer must be bound to their sender, by DPoP or a client certificate.';
  return new AuthError('sender_constraint_missing', message, undefined);
}
