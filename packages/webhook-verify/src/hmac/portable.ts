import { sha256 } from '@noble/hashes/sha2.js';
import type { PrepareHmac } from './hmac.ts';

/**
 * Prepares HMAC-SHA256 in plain JavaScript, for every runtime: the two hashes of RFC 2104, with their first blocks
 * computed once.
 */
export const prepareHmac: PrepareHmac = (key) => {
  const inner = sha256.create().update(padded(key, 0x36));
  const outer = sha256.create().update(padded(key, 0x5c));
  return (prefix, body, encoding = 'hex') => {
    const message = inner.clone().update(utf8.encode(prefix)).update(bytesOf(body)).digest();
    const digest = outer.clone().update(message).digest();
    return encoding === 'hex' ? hexOf(digest) : btoa(String.fromCharCode(...digest));
  };
};

/** Computes the SHA-256 of a text, in hexadecimal. */
export function sha256Hex(text: string): string {
  return hexOf(sha256(utf8.encode(text)));
}

const BLOCK_BYTES = 64;
const utf8 = new TextEncoder();

function padded(key: Uint8Array, pad: number): Uint8Array {
  const block = new Uint8Array(BLOCK_BYTES);
  block.set(key.length > BLOCK_BYTES ? sha256(key) : key);
  return block.map((byte) => byte ^ pad);
}

function bytesOf(body: Uint8Array | string): Uint8Array {
  return typeof body === 'string' ? utf8.encode(body) : body;
}

function hexOf(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += HEX_PAIRS[byte];
  return text;
}

const HEX_PAIRS: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
