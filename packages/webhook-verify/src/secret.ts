import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { prepareHmac } from '#hmac';
import type { Hmac } from './hmac/hmac.ts';

/**
 * Prepares a subscription secret. Its key is the bytes of the text as issued: the 64 hexadecimal characters, not the 32 bytes
 * they could be decoded to.
 *
 * @throws {TypeError} when it is empty or wrapped in white space, as a secret read from a file often is
 */
export function prepareSecret(secret: string): Hmac {
  if (typeof secret !== 'string' || secret === '')
    throw new TypeError('The webhook secret must be a non-empty string.');
  if (secret.trim() !== secret) {
    throw new TypeError(
      'The webhook secret has white space around it; pass it exactly as the registration returned it.',
    );
  }
  return prepareHmac(utf8.encode(secret));
}

/** The first 8 hexadecimal digits of the secret's SHA-256: what may be shown to tell secrets apart. */
export function secretFingerprint(secret: string): string {
  return bytesToHex(sha256(utf8.encode(secret)).subarray(0, 4));
}

const utf8 = new TextEncoder();
