import type { StoreObserver } from '../../ports/store-files.ts';
import { identityOf, isSameFile, type Owner } from './owner.ts';

/** The database file while it is open. */
export interface DatabaseFile {
  /** The error that ended the store; undefined while it works. */
  readonly failure: Error | undefined;
  /** Ends the store: from now on it writes nothing. Only the first call has an effect. */
  fail(cause: Error): void;
  /**
   * Requires that the file is still at its path.
   *
   * @throws {Error} when it was deleted or replaced, which also ends the store
   */
  requirePresent(): void;
  /** Announces the length of the log file, in bytes. */
  logIs(bytes: number): void;
  /** @see StoreFiles.watch */
  watch(observer: StoreObserver): () => void;
  /** Ends the looks at the file. */
  close(): void;
}

export interface DatabaseFileOptions {
  /** The database, by its real path. It exists. */
  readonly path: string;
  readonly owner: Pick<Owner, 'renew'>;
  /** The time between two looks at the file, in ms. Default 1000. */
  readonly everyMs?: number;
  /** The length of the log that is announced to observers, in bytes. Default 256 MiB. */
  readonly longLogBytes?: number;
}

/**
 * Looks at the database file once a second. A file that was deleted or replaced can still be written, and everything
 * written would be gone at the next start.
 */
export function databaseFile(options: DatabaseFileOptions): DatabaseFile {
  const { path, owner, everyMs = 1000, longLogBytes = 256 * 1024 * 1024 } = options;
  const opened = identityOf(path);
  const observers = new Set<StoreObserver>();
  let failure: Error | undefined;
  let isLong = false;
  const timer = setInterval(look, everyMs).unref();

  return {
    get failure() {
      return failure;
    },
    fail,
    requirePresent,
    logIs(bytes) {
      if (isLong && bytes <= longLogBytes / 2) isLong = false;
      if (isLong || bytes <= longLogBytes) return;
      isLong = true;
      for (const observer of observers) observer.logGrew(bytes);
    },
    watch(observer) {
      observers.add(observer);
      const ended = failure;
      if (ended !== undefined) queueMicrotask(() => observer.lost(ended));
      return () => observers.delete(observer);
    },
    close: () => clearInterval(timer),
  };

  function look(): void {
    try {
      requirePresent();
      owner.renew();
    } catch (error) {
      fail(error instanceof Error ? error : new Error(`${path}: cannot be watched.`, { cause: error }));
    }
  }

  function requirePresent(): void {
    const now = identityOf(path);
    if (now !== undefined && isSameFile(now, opened)) return;
    const fault = now === undefined ? 'was deleted' : 'was replaced by another file';
    fail(
      new Error(
        `${path}: ${fault} while the host used it, so the store writes nothing more. Put the file back, and start the host again.`,
      ),
    );
    throw failure;
  }

  function fail(cause: Error): void {
    if (failure !== undefined) return;
    failure = cause;
    clearInterval(timer);
    for (const observer of observers) observer.lost(cause);
  }
}
