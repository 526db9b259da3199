import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/** The text of a file that only its owner reads; made when it is not there, and never replaced. */
export function keptFile(path: string, make: () => string): string {
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, make(), { mode: 0o600, flush: true });
    // A link is there whole or not at all, and never replaces a key that something was encrypted or signed with.
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(path, 'utf8');
}
