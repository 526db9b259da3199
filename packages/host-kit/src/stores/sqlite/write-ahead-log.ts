import { closeSync, fdatasync, fstatSync, openSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { DatabaseFile } from './database-file.ts';
import { isBusy, isFailedFlush } from './unavailable.ts';

/** Commits transactions of the writing connection durably, without blocking the process while the disk flushes. */
export interface WriteAheadLog {
  /**
   * Begins a transaction. While another process holds the lock of writers, it tries again every 10 ms, for 10 s at
   * most, without blocking this process.
   *
   * @throws {Error} when an earlier flush failed, because the content of the disk is unknown since then; when the file
   * is gone; when the lock was not free in time
   */
  begin(): Promise<void>;
  /**
   * Commits the transaction. Resolves when it is on the disk; until then, readers see the state before it.
   *
   * @param flushed called when it is on the disk, in the turn in which readers step to the new state
   * @throws {Error} when the commit or the flush failed, or the file is gone
   */
  commit(flushed?: () => void): Promise<void>;
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
  /** The database file. Default: it is not watched. */
  readonly file?: Pick<DatabaseFile, 'failure' | 'fail' | 'requirePresent' | 'logIs'>;
  /** How long a transaction waits for the lock of writers, in ms. Default 10 000. */
  readonly busyMs?: number;
  /** The bounds of the log. Default: `LOG_BOUNDS`. */
  readonly bounds?: LogBounds;
}

/** The bounds of the log. */
export interface LogBounds {
  /** Approximate length at a checkpoint, in pages of 4 KiB. Pages that many commits write are then copied once. */
  readonly pages: number;
  /** Length of the file, in bytes, that forces a checkpoint. SQLite truncates a longer file when the log starts anew. */
  readonly mostBytes: number;
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
export function writeAheadLog(options: WriteAheadLogOptions): WriteAheadLog {
  const { path, database, reader, flush = onDisk, file = unwatched(), busyMs = 10_000, bounds = LOG_BOUNDS } = options;
  database.exec(
    `PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${bounds.mostBytes}`,
  );
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  const pin = reader.prepare('BEGIN');
  const look = reader.prepare('SELECT 1 FROM sqlite_schema LIMIT 1');
  const unpin = reader.prepare('COMMIT');
  let descriptor: number | undefined;
  let commits = 0;
  let checkpointAt = FIRST_CHECKPOINT;

  return {
    async begin() {
      for (const end = performance.now() + busyMs; ; ) {
        if (file.failure !== undefined) throw file.failure;
        try {
          begin.run();
          return;
        } catch (error) {
          if (!isBusy(error) || performance.now() > end) throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, BUSY_POLL_MS));
      }
    },
    async commit(flushed) {
      try {
        pin.run();
        // BEGIN takes no snapshot; the first read does.
        look.get();
        commit.run();
      } catch (error) {
        if (reader.isTransaction) unpin.run();
        // SQLite itself flushes the first page of a log that starts anew.
        throw isFailedFlush(error) ? flushFailed('a commit', error) : error;
      }
      try {
        // The first commit has created the file. It exists as long as the database is open.
        descriptor ??= openSync(`${path}-wal`, 'r+');
        await flush(descriptor);
      } catch (cause) {
        throw flushFailed('a commit', cause);
      }
      // Before the commit is acknowledged: what is written to a deleted file is gone at the next start.
      file.requirePresent();
      const { size, nlink } = fstatSync(descriptor);
      if (nlink === 0) throw logDeleted();
      file.logIs(size);
      unpin.run();
      flushed?.();
      commits += 1;
      // Large commits can fill the log before `checkpointAt`.
      if (commits >= checkpointAt || size > bounds.mostBytes) copyBack();
    },
    close() {
      if (reader.isTransaction) unpin.run();
      if (descriptor !== undefined) closeSync(descriptor);
    },
  };

  function logDeleted(): Error {
    const failure = new Error(
      `${path}-wal: was deleted while the host used it, so the store writes nothing more. Start the host again.`,
    );
    file.fail(failure);
    return failure;
  }

  /** Copies the log into the database and estimates, from the pages per commit, when the log will be long again. */
  function copyBack(): void {
    const pages = pagesCopied();
    const perCommit = Math.max(pages / commits, 1);
    checkpointAt = Math.min(Math.max(Math.round(bounds.pages / perCommit), 1), MOST_COMMITS);
    commits = 0;
  }

  /**
   * Returns the length of the log in pages. A copy that fails for want of room is ignored: the log still has the pages, and
   * the next checkpoint copies them. A disk that failed to flush it is not to be trusted with the next commit.
   */
  function pagesCopied(): number {
    try {
      return Number(checkpoint.get()?.log ?? 0);
    } catch (error) {
      if (isFailedFlush(error)) flushFailed('its database', error);
      return 0;
    }
  }

  /** Ends the store, and returns the error that says why. */
  function flushFailed(what: string, cause: unknown): Error {
    const message = `${path}: the disk failed to flush ${what}, so the store writes nothing more. Check the disk and restart the host.`;
    const failure = new Error(message, { cause });
    file.fail(failure);
    return failure;
  }
}

function unwatched(): NonNullable<WriteAheadLogOptions['file']> {
  let failure: Error | undefined;
  return {
    get failure() {
      return failure;
    },
    fail(cause) {
      failure ??= cause;
    },
    requirePresent() {},
    logIs() {},
  };
}

function onDisk(descriptor: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(descriptor, (error) => (error === null ? resolve() : reject(error)));
  });
}

const LOG_BOUNDS: LogBounds = { pages: 4096, mostBytes: 64 * 1024 * 1024 };
/** Commits before the first checkpoint, when the pages per commit are not known yet. */
const FIRST_CHECKPOINT = 32;
const MOST_COMMITS = 4096;
const BUSY_POLL_MS = 10;
