import { generateKeyPairSync, hkdfSync } from 'node:crypto';

/** Makes a new Ed25519 private key, PKCS #8 in PEM. */
export function newKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/**
 * Derives an Ed25519 private key in PKCS #8 from a secret: a fixed head and the seed.
 *
 * @param use keeps keys for different uses apart
 * @see RFC 8410, section 7
 */
export function derivedKey(secret: Uint8Array, use: string): Uint8Array {
  const seed = new Uint8Array(hkdfSync('sha256', secret, '', use, 32));
  return new Uint8Array([...Buffer.from('302e020100300506032b657004220420', 'hex'), ...seed]);
}
