/**
 * SHA-256 of bytes, or of an ASCII text, in lower-case hexadecimal. The two builds, `node.ts` and `portable.ts`, give the same digests; the `#sha256` import
 * picks one by the runtime's import condition.
 */
export type Sha256 = (data: string | Uint8Array) => string;

/** The same in base64url, as thumbprints and `ath` are written. @see RFC 7638; RFC 8705, section 3.1; RFC 9449, section 4.2 */
export type Sha256Base64url = (data: string | Uint8Array) => string;
