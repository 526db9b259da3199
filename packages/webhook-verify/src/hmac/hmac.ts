/**
 * Computes the HMAC-SHA256 under a prepared key over `prefix` and then `body`, as lower-case hexadecimal (the default)
 * or as base64 with padding. The builds `node.ts`, `bun.ts`, `workerd.ts` and `portable.ts` give the same digest; the runtime's
 * condition of the import `#hmac` selects one.
 */
export type Hmac = (prefix: string, body: Uint8Array | string, encoding?: 'hex' | 'base64') => string;

/** Prepares a key. It is done once, so that a verification computes only the hashes of its message. */
export type PrepareHmac = (key: Uint8Array) => Hmac;
