import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Returns the text of a file that only its owner can read (mode 0600). A missing file is created with the text of
 * `make`; an existing file is never replaced.
 */
export function keptFile(path: string, make: () => string): string {
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, make(), { mode: 0o600, flush: true });
    // Links a complete file into place. A crash leaves no half-written key, and two processes that start at once get
    // the same key.
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(path, 'utf8');
}
