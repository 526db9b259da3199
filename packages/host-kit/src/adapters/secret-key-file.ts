import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Random, systemRandom } from '../ports/random.ts';

/** Options of `secretKeyFile`. */
export interface SecretKeyFileOptions {
  /**
   * The SQLite database whose secrets the key encrypts. While it holds records of a host, no new key is made. Default:
   * the path of the file without `-secret-key` at its end; a file of another name has no database that is looked at.
   */
  readonly database?: string;
  /** The source of a new key. Default: the generator of the operating system. */
  readonly random?: Random;
}

/**
 * Returns the `secretKey` of a host from a file. At the first start the file is made, with 32 random bytes, for this user
 * alone. Back up the file together with the database: without the key, its secrets are lost.
 *
 * @param path the file, beside the database: `svc.db-secret-key`
 * @throws {TypeError} when `path` names no file, its folder does not exist, or the file does not have 32 bytes
 * @throws {Error} when the file is missing beside a database that a host has used: a new key would open nothing of it
 * @example
 * const secretKey = secretKeyFile('svc.db-secret-key');
 * const host = createHost({ store: sqliteStore('svc.db'), secretKey, authenticate, engine, hasWorkspace });
 */
export function secretKeyFile(path: string, options: SecretKeyFileOptions = {}): Uint8Array {
  if (typeof path !== 'string' || path === '')
    throw new TypeError("secretKeyFile: path is required. Pass the path of a file, such as 'svc.db-secret-key'.");
  const { database = databaseBeside(path), random = systemRandom } = options;
  if (!existsSync(path)) makeKey(path, database, random);
  const key = new Uint8Array(readFileSync(path));
  if (key.length === KEY_BYTES) return key;
  throw new TypeError(
    `secretKeyFile: ${path} must have ${KEY_BYTES} bytes, not ${key.length}. Restore it from the backup of the database.`,
  );
}

const KEY_BYTES = 32;
const SUFFIX = '-secret-key';

function databaseBeside(path: string): string | undefined {
  return path.endsWith(SUFFIX) ? path.slice(0, -SUFFIX.length) : undefined;
}

function makeKey(path: string, database: string | undefined, random: Random): void {
  const folder = dirname(path);
  if (!existsSync(folder))
    throw new TypeError(`secretKeyFile: ${path} cannot be made. The folder ${folder} does not exist. Create it first.`);
  if (database !== undefined && isUsed(database))
    throw new Error(
      `secretKeyFile: ${path} is missing, and ${database} is in use with its key. Restore the file from the backup of the database.`,
    );
  try {
    writeFileSync(path, random(KEY_BYTES), { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    // Another process has made it meanwhile.
    if (!existsSync(path)) throw error;
  }
}

/** Whether a database belongs to a host that was started. A host lists its key in the database when it starts. */
function isUsed(database: string): boolean {
  const found = statSync(database, { throwIfNoEntry: false });
  if (found === undefined || found.size === 0) return false;
  // Loaded only here: a host on PostgreSQL needs no SQLite.
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  try {
    const reader = new DatabaseSync(database, { readOnly: true });
    try {
      return reader.prepare('SELECT 1 FROM sealing_keys LIMIT 1').get() !== undefined;
    } finally {
      reader.close();
    }
  } catch {
    // Another database, or one that cannot be read: it must not lose its key.
    return true;
  }
}
