import { randomBytes } from 'node:crypto';
import type { Config } from './config.ts';
import { keptFile } from './kept-file.ts';

/**
 * Returns the key that encrypts secrets at rest: the configured one, or one in a file beside the SQLite database, which
 * is created with a new database. A store in memory gets a new key at each start.
 *
 * @throws {TypeError} when the file is missing beside a database that is not empty
 */
export function secretKey({ secretKey: configured, store }: Pick<Config, 'secretKey' | 'store'>): Uint8Array {
  if (configured !== undefined) return Buffer.from(configured, 'base64');
  if (store === 'memory:') return randomBytes(KEY_BYTES);
  const text = keptFile({
    database: store.slice('sqlite:'.length),
    suffix: '-secret-key',
    make: () => randomBytes(KEY_BYTES).toString('base64'),
    remedy: 'Restore the file from the backup of the database, or set secretKey to the key that it had.',
  });
  return Buffer.from(text, 'base64');
}

const KEY_BYTES = 32;
