import { prepareHmac, sha256Hex } from '#hmac';
import type { Hmac } from './hmac/hmac.ts';

/**
 * Prepares a subscription secret. Its key is the bytes of the text as issued: the 64 hexadecimal characters, not the 32 bytes
 * they could be decoded to.
 *
 * @throws {TypeError} when it is empty or wrapped in white space, as a secret read from a file often is
 */
export function prepareSecret(secret: string): Hmac {
  return prepareHmac(utf8.encode(checkedSecret(secret)));
}

/** The first 8 hexadecimal digits of the secret's SHA-256: what may be shown to tell secrets apart. */
export function secretFingerprint(secret: string): string {
  return sha256Hex(secret).slice(0, 8);
}

/** Any text that a host may have issued; the messages never repeat it. */
export function checkedSecret(secret: unknown): string {
  if (typeof secret !== 'string' || secret === '') {
    throw new TypeError('secret: must be a non-empty string. Set its environment variable.');
  }
  if (secret.trim() !== secret) {
    throw new TypeError('secret: has white space around it. Pass it exactly as issued.');
  }
  return secret;
}

/** One secret, or several while a rotation overlaps. */
export function secretList(secrets: string | readonly string[]): readonly string[] {
  const list = typeof secrets === 'string' ? [secrets] : secrets;
  if (!Array.isArray(list) || list.length === 0) {
    throw new TypeError('secret: must be a string or a non-empty list. Set its environment variable.');
  }
  return list;
}

const utf8 = new TextEncoder();
