import { randomBytes } from 'node:crypto';
import type { Config } from './config.ts';
import { keptFile } from './kept-file.ts';

/**
 * The key that encrypts webhook secrets: the configured one, or one kept in a file beside the database that only its owner
 * reads. A store in memory gets a key that ends with it.
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
