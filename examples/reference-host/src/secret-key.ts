import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Config } from './config.ts';

/**
 * The key that encrypts webhook secrets: the configured one, or one kept in a file beside the database that only its owner
 * reads. A store in memory gets a key that ends with it.
 */
export function secretKey({ secretKey: configured, store }: Pick<Config, 'secretKey' | 'store'>): Uint8Array {
  if (configured !== undefined) return Buffer.from(configured, 'base64');
  if (store === 'memory:') return randomBytes(KEY_BYTES);
  return keptKey(`${store.slice('sqlite:'.length)}-secret-key`);
}

const KEY_BYTES = 32;

function keptKey(path: string): Uint8Array {
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, randomBytes(KEY_BYTES).toString('base64'), { mode: 0o600, flush: true });
    // A link is there whole or not at all, and never replaces a key that something was encrypted with.
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return Buffer.from(readFileSync(path, 'utf8'), 'base64');
}
