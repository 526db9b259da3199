import type { AuthError } from './errors.ts';

/**
 * The headers that go with a refusal: `WWW-Authenticate` on a 401 and on a missing scope, `Retry-After` on a 429.
 *
 * @see RFC 6750, section 3
 */
export function challenge(error: AuthError): Readonly<Record<string, string>> {
  if (error.status === 401) {
    return { 'www-authenticate': error.presented ? 'Bearer error="invalid_token"' : 'Bearer' };
  }
  const { details } = error;
  if (details === undefined) return {};
  if ('scopeRequired' in details) {
    return { 'www-authenticate': `Bearer error="insufficient_scope", scope="${details.scopeRequired}"` };
  }
  return { 'retry-after': String(details.retryAfterSeconds) };
}
