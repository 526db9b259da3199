import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type CheckpointSigner, ed25519Signer } from '@svc/auth/audit';
import type { Config } from './config.ts';
import { keptFile } from './kept-file.ts';

/**
 * Who signs the checkpoints of the audit log: the key in the configured file, or one kept beside the database. A store in memory
 * gets one that ends with it.
 */
export function auditSigner({ audit, store }: Pick<Config, 'audit' | 'store'>): Promise<CheckpointSigner> {
  if (audit.signingKeyFile !== null) return ed25519Signer(readFileSync(audit.signingKeyFile, 'utf8'));
  if (store === 'memory:') return ed25519Signer(newKey());
  return ed25519Signer(keptFile(`${store.slice('sqlite:'.length)}-audit-key.pem`, newKey));
}

function newKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}
