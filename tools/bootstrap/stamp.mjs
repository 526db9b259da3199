import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Returns a digest of texts, in their order. */
export function digest(texts) {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\0');
  return hash.digest('hex');
}

/**
 * Returns a digest of the names and contents of files and, recursively, folders. Tests and missing files are left out.
 */
export function fingerprint(paths) {
  return digest(paths.flatMap(filesOf).flatMap((path) => [path, readFileSync(path)]));
}

function filesOf(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || path.endsWith('.test.ts')) return [];
  if (!stats.isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesOf(join(path, name)));
}

/** Reads the stamp of a finished step, which is the digest of its inputs. Returns undefined when there is none. */
export function readStamp(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Writes a stamp atomically, so that no process reads half of it. */
export function writeStamp(path, stamp) {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, stamp);
  renameSync(draft, path);
}

/** Removes a stamp, if there is one. */
export function removeStamp(path) {
  rmSync(path, { force: true });
}
