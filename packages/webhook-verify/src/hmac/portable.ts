import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import type { PrepareHmac } from './hmac.ts';

/** HMAC-SHA256 in plain JavaScript, for every runtime. */
export const prepareHmac: PrepareHmac = (key) => {
  const keyed = hmac.create(sha256, key);
  return (prefix, body) => keyed.clone().update(utf8.encode(prefix)).update(bytesOf(body)).digest();
};

const utf8 = new TextEncoder();

function bytesOf(body: Uint8Array | string): Uint8Array {
  return typeof body === 'string' ? utf8.encode(body) : body;
}
