/** Returns whether an error says that SQLite or its disk fails, rather than the program. @see Store.isUnavailable */
export function isUnavailable(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = primaryCode(cause);
    if (code !== undefined && FAILURES.has(code)) return true;
  }
  return false;
}

/** Extended result codes have the primary code in their lowest byte. */
const PRIMARY = 0xff;
/**
 * Busy, locked, no memory, read-only, I/O error, corrupt, full, cannot open, not a database.
 *
 * @see https://www.sqlite.org/rescode.html
 */
const FAILURES: ReadonlySet<number> = new Set([5, 6, 7, 8, 10, 11, 13, 14, 26]);

/** Returns whether another process holds the lock of writers. */
export function isBusy(error: unknown): boolean {
  return primaryCode(error) === BUSY;
}

/** Returns whether SQLite could not open or make a file. */
export function isUnopenable(error: unknown): boolean {
  return primaryCode(error) === CANNOT_OPEN;
}

/** Returns whether the disk failed to flush a file or a folder. */
export function isFailedFlush(error: unknown): boolean {
  const code = resultCode(error);
  return code === FLUSH_FAILED || code === FOLDER_FLUSH_FAILED;
}

function primaryCode(error: unknown): number | undefined {
  const code = resultCode(error);
  return code === undefined ? undefined : code & PRIMARY;
}

function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined;
  return error.errcode;
}

const BUSY = 5;
const CANNOT_OPEN = 14;
const [FLUSH_FAILED, FOLDER_FLUSH_FAILED] = [1034, 1290];
