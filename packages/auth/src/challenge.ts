/** The DPoP part of a challenge. @see RFC 9449, sections 7.1 and 9 */
export interface DpopChallenge {
  /** The error code of the challenge. */
  readonly error: 'invalid_dpop_proof' | 'use_dpop_nonce' | 'invalid_token';
  /** Signature algorithms (`alg`) that the host accepts. */
  readonly algorithms: readonly string[];
  /** The nonce that the next proof must contain. Default: none. */
  readonly nonce?: string | undefined;
}

/** The challenge of a sign-in that does not suffice. @see RFC 9470, section 3 */
export interface StepUpChallenge {
  /** The scheme of the token that the caller sent. */
  readonly scheme: 'Bearer' | 'DPoP';
  /** The parameters as they stand in the header, such as `max_age="300"`. */
  readonly parameters: readonly string[];
}

/** The fields of an `AuthError` from which its headers are made. */
export interface ChallengedError {
  /** HTTP status. */
  readonly status: number;
  /** Whether a credential was presented and found invalid. */
  readonly rejected: boolean;
  /** Scopes that the operation needs; empty when no scope was missing. */
  readonly scopes: readonly string[];
  /** The DPoP challenge, if any. */
  readonly dpop?: DpopChallenge | undefined;
  /** The authentication that is missing, if any. */
  readonly stepUp?: StepUpChallenge | undefined;
  /** URL of the RFC 9728 metadata, if any. */
  readonly resourceMetadata?: string | undefined;
  /** Whole seconds to wait, when waiting helps. */
  readonly retryAfterSeconds?: number | undefined;
}

/**
 * Makes the headers of a refusal: `WWW-Authenticate` on every 401 and on the 403 of a missing scope, `DPoP-Nonce` when
 * the next proof needs one, `Retry-After` when waiting helps.
 *
 * @example
 * challenge(error); // { 'www-authenticate': 'Bearer error="insufficient_scope", scope="runs:read"' }
 * @see RFC 6750, section 3; RFC 9449, section 7.1; RFC 9470, section 3; RFC 9728, section 5.1; RFC 9110, section 10.2.3
 */
export function challenge(error: ChallengedError): Readonly<Record<string, string>> {
  const { status, scopes, dpop, retryAfterSeconds } = error;
  const headers: Record<string, string> = {};
  if (status === 401) headers['www-authenticate'] = unauthorized(error);
  else if (scopes.length > 0) headers['www-authenticate'] = insufficientScope(scopes);
  if (dpop?.nonce !== undefined) headers['dpop-nonce'] = dpop.nonce;
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds);
  return headers;
}

function unauthorized({ rejected, dpop, resourceMetadata, stepUp }: ChallengedError): string {
  const metadata = resourceMetadata === undefined ? [] : [`resource_metadata="${resourceMetadata}"`];
  if (stepUp !== undefined) return `${stepUp.scheme} ${[...metadata, ...stepUp.parameters].join(', ')}`;
  // A rejected proof does not make the token invalid.
  const parameters = [...metadata, ...(rejected && dpop === undefined ? ['error="invalid_token"'] : [])];
  const bearer = parameters.length === 0 ? 'Bearer' : `Bearer ${parameters.join(', ')}`;
  return dpop === undefined ? bearer : `${bearer}, DPoP error="${dpop.error}", algs="${dpop.algorithms.join(' ')}"`;
}

function insufficientScope(scopes: readonly string[]): string {
  const challenged = 'Bearer error="insufficient_scope"';
  // A scope with other characters could inject header syntax, so it is left out.
  return scopes.every((scope) => SCOPE_TOKEN.test(scope)) ? `${challenged}, scope="${scopes.join(' ')}"` : challenged;
}

/** RFC 6749, section 3.3: visible ASCII without the quotation mark and the backslash. */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
