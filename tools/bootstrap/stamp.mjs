import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A digest of texts, in their order. */
export function digest(texts) {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\0');
  return hash.digest('hex');
}

/** A digest of the names and contents of files and, recursively, folders; tests are left out, what is absent counts as absent. */
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

/** The digest of the inputs of a step that was done, kept in a file; undefined when there is none. */
export function readStamp(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** In one move, so nobody reads half a stamp. */
export function writeStamp(path, stamp) {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, stamp);
  renameSync(draft, path);
}

export function removeStamp(path) {
  rmSync(path, { force: true });
}
