import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Algorithm } from '@svc/auth/bearer';

/**
 * Reads the private key by which the host authenticates at an issuer.
 *
 * @throws {TypeError} for a key of another kind
 */
export function assertionKey(pem: string): { readonly key: KeyObject; readonly algorithm: Algorithm } {
  const key = createPrivateKey(pem);
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  const algorithm = ALGORITHM_OF[type === 'ec' ? (details?.namedCurve ?? '') : (type ?? '')];
  if (algorithm !== undefined) return { key, algorithm };
  throw new TypeError('privateKeyFile: the key must be P-256, Ed25519 or RSA. Use a key of one of these kinds.');
}

const ALGORITHM_OF: Readonly<Record<string, Algorithm>> = { prime256v1: 'ES256', ed25519: 'EdDSA', rsa: 'RS256' };
