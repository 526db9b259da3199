/**
 * The bytes that canonical base64url stands for; whoever calls has checked that it is that. The two builds, `node.ts` and
 * `portable.ts`, give the same bytes; the `#base64url` import picks one by the runtime's import condition.
 */
export type DecodeBase64url = (text: string) => Uint8Array<ArrayBuffer>;
