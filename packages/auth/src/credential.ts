import { AuthError } from './errors.ts';
import { headerValues, type RequestHead } from './request-head.ts';

/** The credential in the `Authorization` header of a request. */
export interface Credential {
  /** In lower case: schemes are compared case-insensitively. */
  readonly scheme: string;
  /** The rest of the header, unchanged. */
  readonly token: string;
}

export type PresentedCredential =
  | { readonly kind: 'none' }
  | { readonly kind: 'one'; readonly credential: Credential }
  | { readonly kind: 'malformed'; readonly error: AuthError<'unauthenticated'> };

/**
 * Reads the one credential of a request. A header that is repeated, joined by a comma, or not exactly
 * `<scheme> <token>` is malformed, and so is a token of over 8192 characters. It is never repaired.
 *
 * @see RFC 6750, section 2.1; RFC 9110, section 11.4
 */
export function presentedCredential(request: RequestHead): PresentedCredential {
  const values = headerValues(request, 'authorization');
  const [value] = values;
  if (value === undefined) return NONE;
  if (values.length > 1) return malformed('Send the Authorization header once.');
  const found = value.length <= MAX_SCHEME + 1 + MAX_TOKEN ? CREDENTIALS.exec(value) : undefined;
  const [, scheme = '', token = ''] = found ?? [];
  if (token === '' || token.length > MAX_TOKEN) return malformed(EXPECTED);
  return { kind: 'one', credential: { scheme: scheme.toLowerCase(), token } };
}

/**
 * A scheme, one space, and the characters of b64token (RFC 6750) or token68 (RFC 9110). All are ASCII. The comma is not
 * among them: some platforms join two headers with it.
 */
const CREDENTIALS = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([A-Za-z0-9._~+/-]+=*)$/;

/** The longest signed tokens fit. Node limits all headers together to twice that. */
const MAX_TOKEN = 8192;

/** Longer than any registered scheme. */
const MAX_SCHEME = 64;

const NONE: PresentedCredential = { kind: 'none' };

const EXPECTED =
  'Send the header in the form "Authorization: Bearer <credential>", with one space and nothing after it.';

function malformed(expected: string): PresentedCredential {
  const message = `The Authorization header is malformed. ${expected}`;
  return { kind: 'malformed', error: new AuthError('unauthenticated', message, undefined, { reason: 'malformed' }) };
}
