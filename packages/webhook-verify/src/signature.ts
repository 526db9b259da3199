import { WebhookVerificationError } from './errors.ts';

/** The name of the only algorithm: HMAC-SHA256 over `<timestamp>.<raw body>`, written `sha256=<hex>`. */
export const SIGNATURE_ALGORITHM = 'v1';

/** The beginning of a signature header. */
export const SIGNATURE_PREFIX = 'sha256=';

/**
 * Reads the 64 hexadecimal digits of a signature header, in lower case.
 *
 * @throws {WebhookVerificationError} `malformed_signature`
 */
export function parseSignature(text: string): string {
  if (!/^sha256=[0-9a-fA-F]{64}$/.test(text)) throw new WebhookVerificationError('malformed_signature', undefined);
  return text.slice(SIGNATURE_PREFIX.length).toLowerCase();
}

/** Compares two digests. It reads every character, so that its duration does not reveal the first difference. */
export function sameDigest(computed: string, claimed: string): boolean {
  let difference = computed.length ^ claimed.length;
  for (let index = 0; index < computed.length; index++) {
    difference |= computed.charCodeAt(index) ^ claimed.charCodeAt(index);
  }
  return difference === 0;
}
