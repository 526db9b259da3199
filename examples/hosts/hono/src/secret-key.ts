import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/**
 * Returns the key that encrypts secrets in the database, from a file beside it. The file is made together with the
 * database, for this user alone. Back up both together.
 *
 * @throws {Error} when the file is missing beside a database: a new key would open nothing of it
 */
export function secretKey(database: string): Uint8Array {
  const path = `${database}-secret-key`;
  if (!existsSync(path)) {
    if (existsSync(database)) throw new Error(`${path}: is missing. Restore it from the backup of the database.`);
    writeFileSync(path, randomBytes(32), { mode: 0o600, flag: 'wx', flush: true });
  }
  return readFileSync(path);
}
