import { DatabaseSync } from 'node:sqlite';

/**
 * Takes sole ownership of a database for this process, so that claims found in it at the start are known to be a dead one's.
 * The lock is the operating system's on a file beside the database: it ends with the process, however it ends.
 *
 * @throws {Error} when another process owns it
 */
export function takeOwnership(path: string): { release(): void } {
  const lock = new DatabaseSync(`${path}-owner`);
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
  } catch (cause) {
    lock.close();
    throw new Error(`${path} is in use by another host. An SQLite store serves one host at a time.`, { cause });
  }
  return { release: () => lock.close() };
}
