import { type Stats, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { withoutPlace } from '../../without-place.ts';

/** The lock of this process on a database. */
export interface Owner {
  /**
   * Makes the lock file anew when somebody removed or replaced it.
   *
   * @throws {Error} when another process has done so before, and holds the lock
   */
  renew(): void;
  /** Frees the lock. The file stays. */
  release(): void;
}

export interface OwnerOptions {
  /** The database, by its real path. */
  readonly path: string;
  /**
   * The time for a running owner to make its lock file anew, in ms. This process waits that long when the file is
   * missing beside a database that is not empty. Default 2000.
   */
  readonly graceMs?: number;
}

/**
 * Locks a database for this process, so that leases found in it at the start are known to belong to a former process.
 * The operating system holds the lock, on a file beside the database, and frees it when the process ends in any way.
 *
 * @throws {TypeError} when `path` is a folder or a device
 * @throws {Error} when another process holds the lock, or the database has a second name (a hard link): under that name
 * another host would look for another lock, and SQLite for another log
 */
export function takeOwnership({ path, graceMs = 2000 }: OwnerOptions): Owner {
  const lockPath = `${path}-owner`;
  const found = identityOf(path);
  if (found !== undefined && !found.isFile()) {
    throw new TypeError(`path: ${path} cannot be opened. It is a folder or a device. Name a file.`);
  }
  if (found !== undefined && found.nlink > 1) {
    throw new Error(
      `${path}: has ${found.nlink} names (hard links), and SQLite would keep a log for each. Remove the others, or copy the file.`,
    );
  }
  if (found !== undefined && found.size > 0) awaitLockFile(lockPath, graceMs);
  let lock = lockOf(lockPath, path);
  let locked = identityOf(lockPath);

  return {
    renew() {
      const now = identityOf(lockPath);
      if (now !== undefined && isSameFile(now, locked)) return;
      const anew = lockOf(lockPath, path);
      locked = identityOf(lockPath);
      lock.close();
      lock = anew;
    },
    release: () => lock.close(),
  };
}

/** Waits for the lock file, without which a running owner could not be seen. An owner makes it anew within a second. */
function awaitLockFile(lockPath: string, graceMs: number): void {
  const bell = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; waited < graceMs && identityOf(lockPath) === undefined; waited += POLL_MS) {
    Atomics.wait(bell, 0, 0, POLL_MS);
  }
}

function lockOf(lockPath: string, path: string): DatabaseSync {
  const lock = new DatabaseSync(lockPath);
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
  } catch (cause) {
    lock.close();
    if (!isLocked(cause)) throw cause;
    throw withoutPlace(
      `${path}: another host uses this database. Stop that host, or use postgresStore for several hosts.`,
    );
  }
  return lock;
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}

const SQLITE_BUSY = 5;

/** Reads the identity of a file by its name alone: closing a descriptor would free the locks of this process on it. */
export function identityOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

export function isSameFile(a: Pick<Stats, 'dev' | 'ino'>, b: Pick<Stats, 'dev' | 'ino'> | undefined): boolean {
  return a.dev === b?.dev && a.ino === b.ino;
}

const POLL_MS = 50;
