import { existsSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';

/** A key file beside an SQLite database. */
export interface KeptFile {
  /** The database. */
  readonly database: string;
  /** The end of the file's name, after that of the database. */
  readonly suffix: string;
  /** Makes the text of a new file. */
  readonly make: () => string;
  /** The remedy when the file is lost, as a sentence. Absent: a new file is as good, and is made. */
  readonly remedy?: string;
}

/**
 * Returns the text of a key file that only its owner can read (mode 0600). The file is made when it is missing and the
 * database is missing or empty, or when a new one is as good; an existing file is never replaced. Call it before the
 * database is opened.
 *
 * @throws {TypeError} when the file is missing beside a database that is not empty: the key was lost, and with a new one
 * the host could not open what the database holds
 */
export function keptFile({ database, suffix, make, remedy }: KeptFile): string {
  const path = `${database}${suffix}`;
  if (!existsSync(path)) {
    if (remedy !== undefined && (isFilled(database) || isFilled(`${database}-wal`))) {
      throw new TypeError(`${path}: is missing, and the database is not empty. ${remedy}`);
    }
    create(path, make());
  }
  return readFileSync(path, 'utf8');
}

function isFilled(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function create(path: string, text: string): void {
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flush: true });
    // Links a complete file into place. A crash leaves no half-written key, and two processes that start at once get
    // the same key.
    linkSync(draft, path);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'EEXIST') return;
    throw new TypeError(`${path}: cannot be written (${code}). Correct store, or create its folder.`, { cause });
  } finally {
    rmSync(draft, { force: true });
  }
}
