import { hkdfSync } from 'node:crypto';

/** Derives a separate key for each use, so that no use weakens another. */
export function derivedKey(secret: Uint8Array, use: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', `svc ${use}`, 32));
}
