/** The part of an `AuthError` that its headers depend on. */
export interface ChallengedError {
  readonly status: number;
  readonly rejected: boolean;
  readonly scopes: readonly string[];
  readonly details: { readonly retryAfterSeconds?: number } | object | undefined;
}

/**
 * The headers that go with a refusal: `WWW-Authenticate` on every 401 and on the 403 of a missing scope, `Retry-After` on a 429.
 *
 * @example
 * challenge(error); // { 'www-authenticate': 'Bearer error="insufficient_scope", scope="runs:read"' }
 * @see RFC 6750, section 3; RFC 9110, section 10.2.3
 */
export function challenge(error: ChallengedError): Readonly<Record<string, string>> {
  const { status, rejected, scopes, details } = error;
  if (status === 401) return { 'www-authenticate': rejected ? 'Bearer error="invalid_token"' : 'Bearer' };
  if (scopes.length > 0) return { 'www-authenticate': insufficientScope(scopes) };
  if (status === 429 && details !== undefined && 'retryAfterSeconds' in details) {
    return { 'retry-after': String(details.retryAfterSeconds) };
  }
  return {};
}

function insufficientScope(scopes: readonly string[]): string {
  const challenged = 'Bearer error="insufficient_scope"';
  // Whatever names a scope, nothing but the characters of a scope may get into a header.
  return scopes.every((scope) => SCOPE_TOKEN.test(scope)) ? `${challenged}, scope="${scopes.join(' ')}"` : challenged;
}

/** RFC 6749, section 3.3: visible ASCII without the quotation mark and the backslash. */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
