import { hash } from 'node:crypto';
import type { Sha256, Sha256Base64url, Sha256OfHex } from './sha256.ts';

/** SHA-256 by the OpenSSL of the runtime. */
export const sha256: Sha256 = (data) => hash('sha256', data, 'hex');

export const sha256Base64url: Sha256Base64url = (data) => hash('sha256', data, 'base64url');

export const sha256OfHex: Sha256OfHex = (hex) => {
  const bytes = Buffer.from(hex, 'hex');
  // Buffer stops at the first character that is no digit.
  if (2 * bytes.length !== hex.length) throw new TypeError('sha256OfHex: the text has characters that are no digits.');
  return hash('sha256', bytes, 'hex');
};
