import { sha256 as digest } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Sha256, Sha256Base64url, Sha256OfHex } from './sha256.ts';

/** SHA-256 in JavaScript, for every runtime. */
export const sha256: Sha256 = (data) => bytesToHex(digestOf(data));

export const sha256Base64url: Sha256Base64url = (data) => {
  const base64 = btoa(String.fromCharCode(...digestOf(data)));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
};

export const sha256OfHex: Sha256OfHex = (hex) => bytesToHex(digest(hexToBytes(hex)));

function digestOf(data: string | Uint8Array): Uint8Array {
  return digest(typeof data === 'string' ? utf8ToBytes(data) : data);
}
