/**
 * SHA-256 of bytes, or of an ASCII text, in lower-case hexadecimal. The two builds, `node.ts` and `portable.ts`, give the same digest;
 * the `#sha256` import picks one by the runtime's import condition.
 */
export type Sha256 = (data: string | Uint8Array) => string;
