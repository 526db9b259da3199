import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Random } from '../random.ts';

/** Encrypts webhook secrets at rest; each is bound to its subscription and opens under no other id. */
export interface SecretBox {
  seal(secret: string, webhookId: string): Uint8Array;
  /** @throws {Error} when the bytes were not sealed for this subscription with this key */
  open(sealed: Uint8Array, webhookId: string): string;
}

/**
 * AES-256-GCM: a version byte, a 96-bit nonce, the ciphertext, a 128-bit tag.
 *
 * @param key 32 bytes
 * @throws {TypeError} when the key has another length
 */
export function secretBox(key: Uint8Array, random: Random): SecretBox {
  if (key.length !== KEY_BYTES) throw new TypeError(`secretKey must be ${KEY_BYTES} bytes, not ${key.length}.`);
  return {
    seal(secret, webhookId) {
      const nonce = random(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(webhookId));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return new Uint8Array(Buffer.concat([Uint8Array.of(VERSION), nonce, text, cipher.getAuthTag()]));
    },
    open(sealed, webhookId) {
      if (sealed[0] !== VERSION || sealed.length < 1 + NONCE_BYTES + TAG_BYTES) {
        throw new Error('A stored webhook secret is not in a form that this version knows.');
      }
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
      const text = sealed.subarray(1 + NONCE_BYTES, sealed.length - TAG_BYTES);
      const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(webhookId))
        .setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
      return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8');
    },
  };
}

const ALGORITHM = 'aes-256-gcm';
const VERSION = 1;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
