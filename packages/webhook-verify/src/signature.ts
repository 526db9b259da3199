import { WebhookVerificationError } from './errors.ts';

/** The one algorithm: HMAC-SHA256 over `<timestamp>.<raw body>`, written `sha256=<hex>`. */
export const SIGNATURE_ALGORITHM = 'v1';

export function formatSignature(digest: Uint8Array): string {
  let text = PREFIX;
  for (const byte of digest) text += HEX_OF[byte];
  return text;
}

/**
 * The 32 bytes that a signature header claims.
 *
 * @throws {WebhookVerificationError} `malformed_signature`
 */
export function parseSignature(text: string): Uint8Array {
  if (text.length !== PREFIX.length + 2 * DIGEST_BYTES || !text.startsWith(PREFIX)) throw malformed();
  const digest = new Uint8Array(DIGEST_BYTES);
  for (let index = 0; index < DIGEST_BYTES; index++) {
    const high = nibble(text.charCodeAt(PREFIX.length + 2 * index));
    const low = nibble(text.charCodeAt(PREFIX.length + 2 * index + 1));
    if (high < 0 || low < 0) throw malformed();
    digest[index] = (high << 4) | low;
  }
  return digest;
}

/** Compares all 32 bytes whatever they are, so that the time taken tells nothing of where they differ. */
export function sameDigest(a: Uint8Array, b: Uint8Array): boolean {
  let difference = (a.length ^ DIGEST_BYTES) | (b.length ^ DIGEST_BYTES);
  for (let index = 0; index < DIGEST_BYTES; index++) difference |= (a[index] ?? 0) ^ (b[index] ?? 0);
  return difference === 0;
}

const PREFIX = 'sha256=';
const DIGEST_BYTES = 32;
const HEX_OF: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function nibble(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function malformed(): WebhookVerificationError {
  return new WebhookVerificationError('malformed_signature', undefined);
}
