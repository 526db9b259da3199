import { type CheckpointSigner, ed25519Signer } from '@svc/auth/audit';
import type { Config } from './config.ts';
import { configuredFile } from './configured-file.ts';
import { derivedKey, newKey } from './ed25519-key.ts';
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
 * - for SQLite: the one in a file beside the database, which is created with a new database
 * - for PostgreSQL: derived from `secretKey`, so that all hosts have the same one. The former public keys are derived
 *   from `formerSecretKeys`.
 *
 * @throws {TypeError} when the file is missing beside a database that is not empty
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
    const text = keptFile({
      database: store.slice('sqlite:'.length),
      suffix: '-audit-key.pem',
      make: newKey,
      remedy:
        'Restore the file from the backup of the database, or set audit.signingKeyFile to a new key and add the public key of the lost one to audit.formerPublicKeys.',
    });
    return { signer: await ed25519Signer(text), formerPublicKeys };
  }
  const former = await Promise.all(formerSecrets.map((one) => ed25519Signer(derivedKey(one, DERIVED_FOR))));
  return {
    signer: await ed25519Signer(derivedKey(secret, DERIVED_FOR)),
    formerPublicKeys: [...formerPublicKeys, ...former.map(({ publicKey }) => publicKey)],
  };
}

const DERIVED_FOR = 'svc audit checkpoints';
