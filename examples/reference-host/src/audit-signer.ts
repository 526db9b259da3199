import { generateKeyPairSync, hkdfSync } from 'node:crypto';
import { type CheckpointSigner, ed25519Signer } from '@svc/auth/audit';
import type { Config } from './config.ts';
import { configuredFile } from './configured-file.ts';
import { keptFile } from './kept-file.ts';

export interface AuditKeys {
  readonly signer: CheckpointSigner;
  /** Public keys of former signers, whose checkpoints are still in the log. */
  readonly formerPublicKeys: readonly string[];
}

/**
 * Returns the signer of the checkpoints of the audit log, and the public keys of former signers. The private key is:
 *
 * - the one in `audit.signingKeyFile`, if that is set
 * - for a store in memory: a new one
 * - for SQLite: the one in a file beside the database, which is created
 * - for PostgreSQL: derived from `secretKey`, so that all hosts have the same one. The former public keys are derived
 *   from `formerSecretKeys`.
 */
export async function auditKeys(
  { audit, store }: Pick<Config, 'audit' | 'store'>,
  secret: Uint8Array,
  formerSecrets: readonly Uint8Array[],
): Promise<AuditKeys> {
  const { signingKeyFile, formerPublicKeys } = audit;
  if (signingKeyFile !== null)
    return { signer: await ed25519Signer(configuredFile('audit.signingKeyFile', signingKeyFile)), formerPublicKeys };
  if (store === 'memory:') return { signer: await ed25519Signer(newKey()), formerPublicKeys };
  if (store.startsWith('sqlite:')) {
    const path = `${store.slice('sqlite:'.length)}-audit-key.pem`;
    return { signer: await ed25519Signer(keptFile(path, newKey)), formerPublicKeys };
  }
  const former = await Promise.all(formerSecrets.map((one) => ed25519Signer(derivedKey(one))));
  return {
    signer: await ed25519Signer(derivedKey(secret)),
    formerPublicKeys: [...formerPublicKeys, ...former.map(({ publicKey }) => publicKey)],
  };
}

function newKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Returns an Ed25519 private key in PKCS #8: a fixed head and the seed. @see RFC 8410, section 7 */
function derivedKey(secret: Uint8Array): Uint8Array {
  const seed = new Uint8Array(hkdfSync('sha256', secret, '', 'svc audit checkpoints', 32));
  return new Uint8Array([...Buffer.from('302e020100300506032b657004220420', 'hex'), ...seed]);
}
