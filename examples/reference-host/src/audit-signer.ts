import { generateKeyPairSync, hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type CheckpointSigner, ed25519Signer } from '@svc/auth/audit';
import type { Config } from './config.ts';
import { keptFile } from './kept-file.ts';

/**
 * Who signs the checkpoints of the audit log: the key in the configured file, or one kept beside the database. A store in memory
 * gets one that ends with it; hosts that share a PostgreSQL derive one from the key that they share.
 */
export function auditSigner(
  { audit, store }: Pick<Config, 'audit' | 'store'>,
  secret: Uint8Array,
): Promise<CheckpointSigner> {
  if (audit.signingKeyFile !== null) return ed25519Signer(readFileSync(audit.signingKeyFile, 'utf8'));
  if (store === 'memory:') return ed25519Signer(newKey());
  if (!store.startsWith('sqlite:')) return ed25519Signer(derivedKey(secret));
  return ed25519Signer(keptFile(`${store.slice('sqlite:'.length)}-audit-key.pem`, newKey));
}

function newKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** PKCS #8 of an Ed25519 key is a fixed head and the seed. @see RFC 8410, section 7 */
function derivedKey(secret: Uint8Array): Uint8Array {
  const seed = new Uint8Array(hkdfSync('sha256', secret, '', 'svc audit checkpoints', 32));
  return new Uint8Array([...Buffer.from('302e020100300506032b657004220420', 'hex'), ...seed]);
}
