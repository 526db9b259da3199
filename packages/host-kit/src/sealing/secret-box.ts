import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { Random } from '../ports/random.ts';

/** Encrypts secrets at rest. Each is bound to the id of its owner, and opens only with the same id. */
export interface SecretBox {
  /** The ids of the keys of this host, in hexadecimal; that of the current key first. */
  readonly keyIds: readonly [string, ...string[]];
  /** Encrypts a secret with the current key. */
  seal(secret: string, boundTo: string): Uint8Array;
  /**
   * @throws {Error} when the bytes were changed, bound to another id, or sealed with a key that the host does not have
   */
  open(sealed: Uint8Array, boundTo: string): string;
  /** Returns whether the bytes have the current key and format. Otherwise they are to be sealed again. */
  isCurrent(sealed: Uint8Array): boolean;
}

/** Returns the id of the key that sealed a record, in hexadecimal; undefined when the record is too old to name it. */
export function keyIdOf(sealed: Uint8Array): string | undefined {
  return sealed[0] === VERSION_WITHOUT_KEY_ID ? undefined : Buffer.from(idIn(sealed)).toString('hex');
}

/**
 * Seals with AES-256-GCM: a version byte, a 64-bit key id (the start of an HMAC made with the key), a 96-bit nonce, the
 * ciphertext, a 128-bit tag. Version 1 has no key id; such bytes are opened by trying each key.
 *
 * @param key the current key, 32 bytes; seals and opens
 * @param formerKeys former keys, 32 bytes each; they only open
 * @throws {TypeError} when a key has another length
 */
export function secretBox(key: Uint8Array, random: Random, formerKeys: readonly Uint8Array[] = []): SecretBox {
  const current = identified(key, 'secretKey');
  const keys = [current, ...formerKeys.map((former, index) => identified(former, `secretKey.former[${index}]`))];

  return {
    keyIds: [hex(current), ...keys.slice(1).map(hex)],
    seal(secret, boundTo) {
      const head = Buffer.concat([Uint8Array.of(VERSION), current.id]);
      const nonce = random(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, current.key, nonce).setAAD(Buffer.concat([head, Buffer.from(boundTo)]));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return new Uint8Array(Buffer.concat([head, nonce, text, cipher.getAuthTag()]));
    },
    open(sealed, boundTo) {
      if (sealed[0] === VERSION_WITHOUT_KEY_ID) return openWithoutKeyId(sealed, boundTo);
      if (sealed[0] !== VERSION || sealed.length < HEAD_BYTES + NONCE_BYTES + TAG_BYTES) throw unknownFormat();
      const found = keys.find(({ id }) => id.equals(idIn(sealed)));
      if (found === undefined) {
        throw new Error('secretKey: the key of a stored secret is missing. Add the former key that sealed it.');
      }
      const head = sealed.subarray(0, HEAD_BYTES);
      return decrypt(found.key, Buffer.concat([head, Buffer.from(boundTo)]), sealed.subarray(HEAD_BYTES));
    },
    isCurrent: (sealed) => sealed[0] === VERSION && current.id.equals(idIn(sealed)),
  };

  function openWithoutKeyId(sealed: Uint8Array, boundTo: string): string {
    if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES) throw unknownFormat();
    let failure: unknown;
    for (const { key: candidate } of keys) {
      try {
        return decrypt(candidate, Buffer.from(boundTo), sealed.subarray(1));
      } catch (error) {
        failure = error;
      }
    }
    throw new Error(NO_KEY_OPENS, { cause: failure });
  }
}

const NO_KEY_OPENS = 'secretKey: no key of this host opens a stored secret. Add the former key that sealed it.';

const ALGORITHM = 'aes-256-gcm';
const VERSION_WITHOUT_KEY_ID = 1;
const VERSION = 2;
const KEY_BYTES = 32;
const ID_BYTES = 8;
const HEAD_BYTES = 1 + ID_BYTES;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

interface IdentifiedKey {
  readonly id: Buffer;
  readonly key: KeyObject;
}

function identified(key: Uint8Array, name: string): IdentifiedKey {
  if (key.length !== KEY_BYTES)
    throw new TypeError(`${name}: must be ${KEY_BYTES} bytes, not ${key.length}. Pass random bytes.`);
  const id = createHmac('sha256', key).update('svc secret key id').digest().subarray(0, ID_BYTES);
  return { id, key: createSecretKey(key) };
}

function hex({ id }: IdentifiedKey): string {
  return id.toString('hex');
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

function unknownFormat(): Error {
  return new Error('A stored secret has an unknown format. It was damaged, or written by a newer version of the host.');
}
