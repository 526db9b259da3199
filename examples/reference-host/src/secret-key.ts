import { randomBytes } from 'node:crypto';
import type { Config } from './config.ts';
import { keptFile } from './kept-file.ts';

/**
 * Returns the key that encrypts secrets at rest: the configured one, or one in a file beside the SQLite database, which
 * is created with mode 0600. A store in memory gets a new key at each start.
 */
export function secretKey({ secretKey: configured, store }: Pick<Config, 'secretKey' | 'store'>): Uint8Array {
  if (configured !== undefined) return Buffer.from(configured, 'base64');
  if (store === 'memory:') return randomBytes(KEY_BYTES);
  const path = `${store.slice('sqlite:'.length)}-secret-key`;
  return Buffer.from(
    keptFile(path, () => randomBytes(KEY_BYTES).toString('base64')),
    'base64',
  );
}

const KEY_BYTES = 32;
