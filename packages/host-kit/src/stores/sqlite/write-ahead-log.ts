import { closeSync, fdatasync, fstatSync, openSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

/** Takes transactions of the writing connection to the disk without keeping the process waiting for it. */
export interface WriteAheadLog {
  /** @throws {Error} when the disk has failed before: what it has then is not known, so that nothing more is written */
  begin(): void;
  /** Commits what was begun. Resolves when it is on the disk; until then readers see what was before. */
  commit(): Promise<void>;
  close(): void;
}

export interface WriteAheadLogOptions {
  /** The database file. */
  readonly path: string;
  readonly database: DatabaseSync;
  readonly reader: DatabaseSync;
  /** Resolves when what was written to a file is on the disk. */
  readonly flush?: (descriptor: number) => Promise<void>;
}

/**
 * SQLite would flush its log within the commit, and nothing else could happen meanwhile. So it commits without that, and the log is flushed
 * beside it; what a reader may see stays pinned to what was flushed before. Copying the log into the database, which SQLite would do within
 * a commit, too, waits until no reader is pinned: only then is all of the log copied, and can it be written from its beginning again.
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
        // A snapshot is taken by the first read.
        look.get();
        commit.run();
      } catch (error) {
        if (reader.isTransaction) unpin.run();
        throw error;
      }
      try {
        // It is there by now, and stays as long as the database is open.
        descriptor ??= openSync(`${path}-wal`, 'r+');
        await flush(descriptor);
      } catch (cause) {
        failure = new Error('The disk did not take what was written. Nothing more is written until a restart.', {
          cause,
        });
        throw failure;
      }
      unpin.run();
      commits += 1;
      // Commits may be larger than those before them.
      if (commits >= checkpointAt || fstatSync(descriptor).size > MOST_BYTES) copyBack();
    },
    close() {
      if (reader.isTransaction) unpin.run();
      if (descriptor !== undefined) closeSync(descriptor);
    },
  };

  /** Copies the log into the database, and judges from its length when it will be long enough for that again. */
  function copyBack(): void {
    const pages = pagesCopied();
    const perCommit = Math.max(pages / commits, 1);
    checkpointAt = Math.min(Math.max(Math.round(LOG_PAGES / perCommit), 1), MOST_COMMITS);
    commits = 0;
  }

  /** What could not be copied stays in the log, and is read from there: it is tried again, and nobody's transaction failed. */
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

/** How long the log becomes, about: 16 MiB of pages that are written again and again, and copied once for many commits. */
const LOG_PAGES = 4096;
/** How long its file may become. What is longer is cut when the log begins anew. */
const MOST_BYTES = 64 * 1024 * 1024;
const FIRST_CHECKPOINT = 32;
const MOST_COMMITS = 4096;
