import { AuthError } from './errors.ts';
import { headerValues, type RequestHead } from './request-head.ts';

/** What a request presents in its `Authorization` header. */
export interface Credential {
  /** In lower case, as schemes are compared without regard to it. */
  readonly scheme: string;
  readonly token: string;
}

export type PresentedCredential =
  | { readonly kind: 'none' }
  | { readonly kind: 'one'; readonly credential: Credential }
  | { readonly kind: 'malformed'; readonly error: AuthError<'unauthenticated'> };

/**
 * Reads the one credential of a request. A header that is there twice, joined by a comma, longer than any credential, or not
 * exactly `<scheme> <token>` is malformed, never guessed at.
 *
 * @see RFC 6750, section 2.1; RFC 9110, section 11.4
 */
export function presentedCredential(request: RequestHead): PresentedCredential {
  const values = headerValues(request, 'authorization');
  const [value] = values;
  if (value === undefined) return NONE;
  if (values.length > 1) return malformed('Send the Authorization header once.');
  const [, scheme, token] = (value.length <= MAX_LENGTH && CREDENTIALS.exec(value)) || [];
  if (scheme === undefined || token === undefined) return malformed(EXPECTED);
  return { kind: 'one', credential: { scheme: scheme.toLowerCase(), token } };
}

/**
 * A scheme, one space, and the characters that RFC 6750 calls b64token and RFC 9110 token68. All of them are ASCII, and none is
 * the comma by which some platforms join two headers into one.
 */
const CREDENTIALS = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([A-Za-z0-9._~+/-]+=*)$/;

/** As long as a signed token gets; Node's own limit on all headers together is twice that. */
const MAX_LENGTH = 8192;

const NONE: PresentedCredential = { kind: 'none' };

const EXPECTED =
  'Send the header in the form "Authorization: Bearer <credential>", with one space and nothing after it.';

function malformed(expected: string): PresentedCredential {
  const message = `The Authorization header is malformed. ${expected}`;
  return { kind: 'malformed', error: new AuthError('unauthenticated', message, undefined) };
}
