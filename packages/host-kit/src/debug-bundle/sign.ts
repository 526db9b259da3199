import { createHash } from 'node:crypto';
import { type CheckpointSigner, canonicalJson } from '@svc/auth/audit';
import { canonicalOf, type SigningKey, signedBytes, type UnsignedBundle } from './format.ts';

/** Signs the bundles of a host. */
export interface BundleSigner {
  readonly key: SigningKey;
  /** Returns the bytes of the signed bundle. */
  sign(bundle: UnsignedBundle): Promise<Uint8Array>;
}

/**
 * Makes the signer of bundles.
 *
 * @param keyId default: the first 16 characters of the SHA-256 of the public key in base64url
 */
export function bundleSigner(signer: CheckpointSigner, keyId?: string): BundleSigner {
  const publicKey = Buffer.from(signer.publicKey, 'base64').subarray(-32);
  const id = keyId ?? createHash('sha256').update(publicKey).digest('base64url').slice(0, 16);
  return {
    key: { keyId: id, alg: 'ed25519', publicKey: publicKey.toString('base64url') },
    async sign(bundle) {
      const content = canonicalOf(bundle);
      const value = Buffer.from(await signer.sign(signedBytes(canonicalJson(content)))).toString('base64url');
      return Buffer.from(canonicalJson(canonicalOf({ ...bundle, signature: { alg: 'ed25519', keyId: id, value } })));
    },
  };
}
