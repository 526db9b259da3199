import { closeSync, fdatasync, fstatSync, openSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

/** Commits transactions of the writing connection durably, without blocking the process while the disk flushes. */
export interface WriteAheadLog {
  /**
   * Begins a transaction.
   *
   * @throws {Error} when an earlier flush failed: the content of the disk is unknown since then
   */
  begin(): void;
  /**
   * Commits the transaction. Resolves when it is on the disk; until then, readers see the state before it.
   *
   * @throws {Error} when the commit or the flush failed
   */
  commit(): Promise<void>;
  /** Frees the reader's snapshot and the file descriptor. */
  close(): void;
}

export interface WriteAheadLogOptions {
  /** The database file. */
  readonly path: string;
  /** The writing connection. */
  readonly database: DatabaseSync;
  /** The reading connection. */
  readonly reader: DatabaseSync;
  /** Flushes a file to the disk. Default: `fdatasync`. */
  readonly flush?: (descriptor: number) => Promise<void>;
}

/**
 * Flushes SQLite's log on a thread of the pool. SQLite itself would flush within the commit and block the process. Here
 * it commits without a flush, and the flush runs beside it; meanwhile a read transaction pins the reader to the state
 * that was flushed before.
 *
 * The checkpoint, which copies the log into the database, also runs here instead of within a commit: while the reader
 * is pinned it could copy only a part, and the log would grow instead of starting anew.
 *
 * @see https://www.sqlite.org/wal.html
 */
export function writeAheadLog({ path, database, reader, flush = onDisk }: WriteAheadLogOptions): WriteAheadLog {
  database.exec(
    `PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${MOST_BYTES}`,
  );
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  const pin = reader.prepare('BEGIN');
  const look = reader.prepare('SELECT 1 FROM sqlite_schema LIMIT 1');
  const unpin = reader.prepare('COMMIT');
  let descriptor: number | undefined;
  let failure: Error | undefined;
  let commits = 0;
  let checkpointAt = FIRST_CHECKPOINT;

  return {
    begin() {
      if (failure !== undefined) throw failure;
      begin.run();
    },
    async commit() {
      try {
        pin.run();
        // BEGIN takes no snapshot; the first read does.
        look.get();
        commit.run();
      } catch (error) {
        if (reader.isTransaction) unpin.run();
        throw error;
      }
      try {
        // The first commit has created the file. It exists as long as the database is open.
        descriptor ??= openSync(`${path}-wal`, 'r+');
        await flush(descriptor);
      } catch (cause) {
        failure = new Error(
          `${path}: the disk failed to flush a commit, so the store writes nothing more. Check the disk and restart the host.`,
          { cause },
        );
        throw failure;
      }
      unpin.run();
      commits += 1;
      // Large commits can fill the log before `checkpointAt`.
      if (commits >= checkpointAt || fstatSync(descriptor).size > MOST_BYTES) copyBack();
    },
    close() {
      if (reader.isTransaction) unpin.run();
      if (descriptor !== undefined) closeSync(descriptor);
    },
  };

  /** Copies the log into the database and estimates, from the pages per commit, when the log will be long again. */
  function copyBack(): void {
    const pages = pagesCopied();
    const perCommit = Math.max(pages / commits, 1);
    checkpointAt = Math.min(Math.max(Math.round(LOG_PAGES / perCommit), 1), MOST_COMMITS);
    commits = 0;
  }

  /**
   * Returns the length of the log in pages. A failed copy is ignored: the log still has the pages, and the next
   * checkpoint copies them.
   */
  function pagesCopied(): number {
    try {
      return Number(checkpoint.get()?.log ?? 0);
    } catch {
      return 0;
    }
  }
}

function onDisk(descriptor: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(descriptor, (error) => (error === null ? resolve() : reject(error)));
  });
}

/**
 * Approximate length of the log at a checkpoint, in pages of 4 KiB. Pages that many commits write are then copied once.
 */
const LOG_PAGES = 4096;
/**
 * Length of the log file, in bytes, that forces a checkpoint. SQLite truncates a longer file when the log starts anew.
 */
const MOST_BYTES = 64 * 1024 * 1024;
/** Commits before the first checkpoint, when the pages per commit are not known yet. */
const FIRST_CHECKPOINT = 32;
const MOST_COMMITS = 4096;
