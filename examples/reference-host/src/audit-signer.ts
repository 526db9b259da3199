import { generateKeyPairSync, hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type CheckpointSigner, ed25519Signer } from '@svc/auth/audit';
import type { Config } from './config.ts';
import { keptFile } from './kept-file.ts';

export interface AuditKeys {
  readonly signer: CheckpointSigner;
  /** Of signers before it, whose checkpoints are still in the log. */
  readonly formerPublicKeys: readonly string[];
}

/**
 * Who signs the checkpoints of the audit log: the key in the configured file, or one kept beside the database. A store in memory
 * gets one that ends with it; hosts that share a PostgreSQL derive one from the key that they share, and from each former one the
 * key that verifies what it signed.
 */
export async function auditKeys(
  { audit, store }: Pick<Config, 'audit' | 'store'>,
  secret: Uint8Array,
  formerSecrets: readonly Uint8Array[],
): Promise<AuditKeys> {
  const { signingKeyFile, formerPublicKeys } = audit;
  if (signingKeyFile !== null)
    return { signer: await ed25519Signer(readFileSync(signingKeyFile, 'utf8')), formerPublicKeys };
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

/** PKCS #8 of an Ed25519 key is a fixed head and the seed. @see RFC 8410, section 7 */
function derivedKey(secret: Uint8Array): Uint8Array {
  const seed = new Uint8Array(hkdfSync('sha256', secret, '', 'svc audit checkpoints', 32));
  return new Uint8Array([...Buffer.from('302e020100300506032b657004220420', 'hex'), ...seed]);
}
