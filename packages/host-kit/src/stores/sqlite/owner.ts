import { DatabaseSync } from 'node:sqlite';

/**
 * Locks a database for this process, so that leases found in it at the start are known to belong to a former process.
 * The operating system holds the lock, on a file beside the database, and frees it when the process ends in any way.
 *
 * @throws {Error} when another process holds the lock
 */
export function takeOwnership(path: string): { release(): void } {
  const lock = new DatabaseSync(`${path}-owner`);
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
  } catch (cause) {
    lock.close();
    throw new Error(
      `${path}: another host uses this database. Stop that host, or use postgresStore for several hosts.`,
      { cause },
    );
  }
  return { release: () => lock.close() };
}
