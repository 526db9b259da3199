/**
 * Hashes bytes or an ASCII text with SHA-256, to lower-case hexadecimal. The two builds, `node.ts` and `portable.ts`,
 * return the same digests; the `#sha256` import picks one by the runtime's import condition.
 */
export type Sha256 = (data: string | Uint8Array) => string;

/**
 * Hashes with SHA-256, to base64url, as in thumbprints and `ath`.
 *
 * @see RFC 7638; RFC 8705, section 3.1; RFC 9449, section 4.2
 */
export type Sha256Base64url = (data: string | Uint8Array) => string;

/**
 * Hashes bytes that are given in hexadecimal, to lower-case hexadecimal.
 *
 * @throws for a text with other characters
 */
export type Sha256OfHex = (hex: string) => string;
