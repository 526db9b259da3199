/**
 * Decodes canonical base64url. The caller has checked the text. The two builds, `node.ts` and `portable.ts`, return the
 * same bytes; the `#base64url` import picks one by the runtime's import condition.
 */
export type DecodeBase64url = (text: string) => Uint8Array<ArrayBuffer>;
