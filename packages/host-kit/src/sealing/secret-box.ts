import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { Random } from '../ports/random.ts';

/** Encrypts secrets at rest. Each is bound to what it belongs to, and opens for nothing else. */
export interface SecretBox {
  seal(secret: string, boundTo: string): Uint8Array;
  /** @throws {Error} when the bytes were not sealed for this, or with none of the keys */
  open(sealed: Uint8Array, boundTo: string): string;
  /** Whether it is sealed as `seal` does now; otherwise with a former key, or in a former form. */
  isCurrent(sealed: Uint8Array): boolean;
}

/**
 * AES-256-GCM: a version byte, the first 64 bits of a MAC that name the key, a 96-bit nonce, the ciphertext, a 128-bit tag. What the
 * first version wrote does not name its key; it is opened with whichever fits.
 *
 * @param key 32 bytes; seals, and opens
 * @param formerKeys open what they sealed, and seal nothing
 * @throws {TypeError} when a key has another length
 */
export function secretBox(key: Uint8Array, random: Random, formerKeys: readonly Uint8Array[] = []): SecretBox {
  const current = namedKey(key, 'secretKey');
  const keys = [current, ...formerKeys.map((former, index) => namedKey(former, `formerSecretKeys[${index}]`))];

  return {
    seal(secret, boundTo) {
      const head = Buffer.concat([Uint8Array.of(VERSION), current.id]);
      const nonce = random(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, current.key, nonce).setAAD(Buffer.concat([head, Buffer.from(boundTo)]));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return new Uint8Array(Buffer.concat([head, nonce, text, cipher.getAuthTag()]));
    },
    open(sealed, boundTo) {
      if (sealed[0] === UNNAMED_VERSION) return openUnnamed(sealed, boundTo);
      if (sealed[0] !== VERSION || sealed.length < HEAD_BYTES + NONCE_BYTES + TAG_BYTES) throw unknownForm();
      const named = keys.find(({ id }) => id.equals(idIn(sealed)));
      if (named === undefined) {
        throw new Error(
          'A stored secret is sealed with a key that this host does not have. Name it in formerSecretKeys.',
        );
      }
      const head = sealed.subarray(0, HEAD_BYTES);
      return decrypt(named.key, Buffer.concat([head, Buffer.from(boundTo)]), sealed.subarray(HEAD_BYTES));
    },
    isCurrent: (sealed) => sealed[0] === VERSION && current.id.equals(idIn(sealed)),
  };

  function openUnnamed(sealed: Uint8Array, boundTo: string): string {
    if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES) throw unknownForm();
    let failure: unknown;
    for (const { key: candidate } of keys) {
      try {
        return decrypt(candidate, Buffer.from(boundTo), sealed.subarray(1));
      } catch (error) {
        failure = error;
      }
    }
    throw new Error('A stored secret opens with none of the keys that this host has.', { cause: failure });
  }
}

const ALGORITHM = 'aes-256-gcm';
const UNNAMED_VERSION = 1;
const VERSION = 2;
const KEY_BYTES = 32;
const ID_BYTES = 8;
const HEAD_BYTES = 1 + ID_BYTES;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

interface NamedKey {
  readonly id: Buffer;
  readonly key: KeyObject;
}

function namedKey(key: Uint8Array, name: string): NamedKey {
  if (key.length !== KEY_BYTES) throw new TypeError(`${name} must be ${KEY_BYTES} bytes, not ${key.length}.`);
  const id = createHmac('sha256', key).update('svc secret key id').digest().subarray(0, ID_BYTES);
  return { id, key: createSecretKey(key) };
}

function idIn(sealed: Uint8Array): Uint8Array {
  return sealed.subarray(1, HEAD_BYTES);
}

/** @param sealed nonce, ciphertext and tag */
function decrypt(key: KeyObject, boundTo: Uint8Array, sealed: Uint8Array): string {
  const text = sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(boundTo)
    .setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8');
}

function unknownForm(): Error {
  return new Error('A stored secret is not in a form that this version knows.');
}
