import { createHash } from 'node:crypto';
import { type CheckpointSigner, ed25519Signer } from '@svc/auth/audit';
import type { DebugBundleKeys } from '@svc/host-kit';
import type { Config } from './config.ts';
import { configuredFile } from './configured-file.ts';
import { derivedKey, newKey } from './ed25519-key.ts';
import { keptFile } from './kept-file.ts';

/**
 * Returns the keys that sign debug bundles. The private key is:
 *
 * - the one in `debugBundles.signingKeyFile`, if that is set
 * - for a store in memory: a new one
 * - for SQLite: the one in a file beside the database, which is created
 * - for PostgreSQL: derived from `secretKey`, so that all hosts have the same one. Former public keys are derived from
 *   `formerSecretKeys`.
 */
export async function bundleKeys(
  { debugBundles, store }: Pick<Config, 'debugBundles' | 'store'>,
  secret: Uint8Array,
  formerSecrets: readonly Uint8Array[],
): Promise<DebugBundleKeys> {
  const { signingKeyFile, keyId, formerKeys } = debugBundles;
  const derives = signingKeyFile === null && store !== 'memory:' && !store.startsWith('sqlite:');
  const derived = derives ? await Promise.all(formerSecrets.map(signerOf)) : [];
  return {
    signer: derives ? await signerOf(secret) : await ed25519Signer(keyOf(signingKeyFile, store)),
    ...(keyId !== null && { keyId }),
    formerKeys: [
      ...formerKeys.map(({ retiredAt, ...key }) => ({ ...key, ...(retiredAt !== undefined && { retiredAt }) })),
      ...derived.map(publicKeyOf),
    ],
  };
}

function keyOf(signingKeyFile: string | null, store: string): string {
  if (signingKeyFile !== null) return configuredFile('debugBundles.signingKeyFile', signingKeyFile);
  if (store === 'memory:') return newKey();
  return keptFile({ database: store.slice('sqlite:'.length), suffix: '-bundle-key.pem', make: newKey });
}

function signerOf(secret: Uint8Array): Promise<CheckpointSigner> {
  return ed25519Signer(derivedKey(secret, 'svc debug bundles'));
}

/** The id is the one that the host gives to a key without a `keyId`. */
function publicKeyOf({ publicKey }: CheckpointSigner): { readonly keyId: string; readonly publicKey: string } {
  const raw = Buffer.from(publicKey, 'base64').subarray(-32);
  const keyId = createHash('sha256').update(raw).digest('base64url').slice(0, 16);
  return { keyId, publicKey: raw.toString('base64url') };
}
