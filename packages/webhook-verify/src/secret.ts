import { prepareHmac, sha256Hex } from '#hmac';
import type { Hmac } from './hmac/hmac.ts';

/**
 * Prepares the secret of a subscription. The key is the text itself: the 64 hexadecimal characters, not the 32 bytes
 * that they encode.
 *
 * @throws {TypeError} when the secret is empty or has white space around it, as a secret read from a file often has
 * @example
 * import { prepareSecret, signWith } from '@svc/webhook-verify';
 *
 * const hmac = prepareSecret('a secret');
 * const timestamp = Math.floor(Date.now() / 1000);
 * const families = ['SVC', 'X-svc'] as const;
 * console.log(signWith(hmac, { body: '{}', webhookId: 'whk_1', eventType: 'run.started', timestamp, families }));
 */
export function prepareSecret(secret: string): Hmac {
  return prepareHmac(utf8.encode(checkedSecret(secret)));
}

/**
 * Returns the first 8 hexadecimal digits of the SHA-256 of a secret. They may be logged to tell secrets apart.
 *
 * @example
 * import { secretFingerprint } from '@svc/webhook-verify';
 *
 * console.log(secretFingerprint('abc')); // ba7816bf
 */
export function secretFingerprint(secret: string): string {
  return sha256Hex(secret).slice(0, 8);
}

/**
 * Checks a secret: any text without white space around it.
 *
 * @throws {TypeError} otherwise, without the secret in its message
 */
export function checkedSecret(secret: unknown): string {
  if (typeof secret !== 'string' || secret === '') {
    throw new TypeError('secret: must be a non-empty string. Set its environment variable.');
  }
  if (secret.trim() !== secret) {
    throw new TypeError('secret: has white space around it. Pass it exactly as issued.');
  }
  return secret;
}

/** Returns the secrets as a list: one, or several while a rotation overlaps. @throws {TypeError} for an empty list */
export function secretList(secrets: string | readonly string[]): readonly string[] {
  const list = typeof secrets === 'string' ? [secrets] : secrets;
  if (!Array.isArray(list) || list.length === 0) {
    throw new TypeError('secret: must be a string or a non-empty list. Set its environment variable.');
  }
  return list;
}

const utf8 = new TextEncoder();
