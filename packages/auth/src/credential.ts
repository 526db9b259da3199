import { AuthError } from './errors.ts';
import { headerValues, type RequestHead } from './request-head.ts';

/**
 * The bearer credential of a request; undefined when it presents none.
 *
 * @throws {AuthError} `unauthenticated` when the header is repeated, of another scheme, or malformed
 * @see RFC 6750, section 2.1
 */
export function bearerCredential(request: RequestHead): string | undefined {
  const values = headerValues(request, 'authorization');
  const [value] = values;
  if (value === undefined) return undefined;
  if (values.length > 1) throw malformed();
  const credential = value.length > MAX_LENGTH ? undefined : BEARER.exec(value)?.[1];
  if (credential === undefined) throw malformed();
  return credential;
}

// The grammar has no comma, so two headers that a platform joined do not pass either.
const BEARER = /^[Bb][Ee][Aa][Rr][Ee][Rr] ([A-Za-z0-9\-._~+/]+=*)$/;
const MAX_LENGTH = 8192;

function malformed(): AuthError {
  return new AuthError(
    'unauthenticated',
    'Send exactly one header of the form "Authorization: Bearer <credential>".',
    undefined,
  );
}
