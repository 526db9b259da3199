import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Store } from '../../ports/store.ts';
import { openStore } from './open-store.ts';
import { takeOwnership } from './owner.ts';
import { realPath } from './real-path.ts';
import { isUnopenable } from './unavailable.ts';

export type { PendingWork } from '../sql/inspection.ts';
export { inspectSqlite, type SqliteInspection } from './inspect.ts';

/**
 * Opens a store in one SQLite file, for one host process. Committed writes survive the end of the process and a loss of
 * power.
 *
 * The file is looked at while it is open: see `StoreFiles`. A write waits up to 10 s for another process that holds the
 * lock of writers, such as an `sqlite3` shell, and blocks nothing meanwhile.
 *
 * @param path the database file. It is created when missing, as are its companions `-wal`, `-shm` and `-owner` beside
 *   it. A symbolic link stands for its target.
 * @throws {TypeError} when `path` names no file: SQLite takes `:memory:`, `` and `file:` for databases of other kinds;
 *   when its folder does not exist, or the file cannot be opened or made
 * @throws {Error} when another process uses the file, under this name or another one; when the file has a second name
 *   (a hard link); when a newer version of the kit wrote it, and this version cannot
 *   use it (`SchemaVersionError`)
 * @example
 * const host = createHost({ …, store: sqliteStore('/var/lib/svc/host.db') });
 */
export function sqliteStore(path: string): Store {
  requireFile(path);
  requireFolder(path);
  const real = realPath(path);
  try {
    const owner = takeOwnership({ path: real });
    try {
      return openStore({ path: real, owner });
    } catch (error) {
      owner.release();
      throw error;
    }
  } catch (cause) {
    throw isUnopenable(cause) ? new TypeError(`path: ${path} cannot be opened. ${UNOPENABLE}`, { cause }) : cause;
  }
}

const UNOPENABLE = 'Create its folder, let this process write there, and name a file.';

/** SQLite itself names neither the file nor the folder. */
function requireFolder(path: string): void {
  const folder = dirname(path);
  if (existsSync(folder)) return;
  throw new TypeError(`path: ${path} cannot be opened. The folder ${folder} does not exist. Create it first.`);
}

/** A store has two connections, and a database in memory belongs to one of them. */
function requireFile(path: string): void {
  if (typeof path !== 'string')
    throw new TypeError("sqliteStore: path is required. Pass the path of a file, such as 'svc.db'.");
  if (path.trim() !== '' && path !== ':memory:' && !/^file:/i.test(path)) return;
  const shown = JSON.stringify(path.slice(0, 64));
  throw new TypeError(`path: ${shown} names no file. Pass the path of a file, or use memoryStore().`);
}
