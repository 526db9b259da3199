/**
 * Whether an id may stand in a run record, which is shown and kept without redaction: 1 to 256 characters, and nothing that
 * makes it an e-mail address (`@`), a display name (white space), a path (`/`), a token or a certificate.
 *
 * @see Interface: Run owner (identity triple); Subject record
 */
export function isOpaqueId(id: unknown): id is string {
  return typeof id === 'string' && id.length <= MAX_LENGTH && OPAQUE.test(id) && !CREDENTIAL.test(id);
}

const MAX_LENGTH = 256;

/** `\p{C}`: control and format characters, by which an id could forge a line of a log or look like another. */
const OPAQUE = /^[^\s@/\p{C}]+$/u;

/** How a JSON Web Token, a PEM block, a certificate's DER in base64 and a key of ours begin. */
const CREDENTIAL = /^eyJ[A-Za-z0-9_-]{10}|-----BEGIN|^MI[I-L][A-Za-z0-9+_-]{60}|^svc_(?:live|test)_/;

/** What `isOpaqueId` asks for, in words for the one who has to mend it. */
export const OPAQUE_ID_RULE: string =
  'an opaque id of 1 to 256 characters: no "@", white space, "/" or control character, and no token or certificate';
