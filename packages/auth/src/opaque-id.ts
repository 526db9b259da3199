/**
 * Returns whether an id may be stored in a run record, which is shown without redaction: 1 to 256 characters, and
 * neither an e-mail address (`@`), a display name (white space), a path (`/`), a token nor a certificate.
 *
 * @example
 * isOpaqueId('p_7f3a'); // true
 * isOpaqueId('ada@example.com'); // false
 * @see Interface: Run owner (identity triple); Subject record
 */
export function isOpaqueId(id: unknown): id is string {
  return typeof id === 'string' && id.length <= MAX_LENGTH && OPAQUE.test(id) && !CREDENTIAL.test(id);
}

const MAX_LENGTH = 256;

/**
 * Excludes control and format characters (`\p{C}`): with them an id could forge a line of a log or look like another
 * id.
 */
const OPAQUE = /^[^\s@/\p{C}]+$/u;

/** The beginnings of a JSON Web Token, a PEM block, a DER certificate in base64 and a minted API key. */
const CREDENTIAL = /^eyJ[A-Za-z0-9_-]{10}|-----BEGIN|^MI[I-L][A-Za-z0-9+_-]{60}|^svc_(?:live|test)_/;

/** The rule of `isOpaqueId` in words, for error messages. */
export const OPAQUE_ID_RULE: string =
  'an opaque id of 1 to 256 characters: no "@", white space, "/" or control character, and no token or certificate';
