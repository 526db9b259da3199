import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** Returns the key that encrypts secrets in the database. The file is made at the first start, for this user alone. */
export function secretKey(path: string): Uint8Array {
  if (!existsSync(path)) writeFileSync(path, randomBytes(32), { mode: 0o600, flag: 'wx', flush: true });
  return readFileSync(path);
}
