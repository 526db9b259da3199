import { hexToBytes } from '@noble/hashes/utils.js';
import { base64url } from 'jose';
import { sha256 } from '#sha256';

/** SHA-256 as thumbprints and `ath` are written. @see RFC 7638; RFC 8705, section 3.1; RFC 9449, section 4.2 */
export function sha256Base64url(data: string | Uint8Array): string {
  return base64url.encode(hexToBytes(sha256(data)));
}
