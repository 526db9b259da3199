/**
 * HMAC-SHA256 under a prepared key over a text and the bytes that follow it, as lower-case hexadecimal or as base64 with padding.
 * The two builds, `node.ts` and `portable.ts`, give the same digest; the `#hmac` import picks one by the runtime's condition.
 */
export type Hmac = (prefix: string, body: Uint8Array | string, encoding?: DigestEncoding) => string;

export type DigestEncoding = 'hex' | 'base64';

/** Prepares a key once, so that a verification pays for the message alone. */
export type PrepareHmac = (key: Uint8Array) => Hmac;
