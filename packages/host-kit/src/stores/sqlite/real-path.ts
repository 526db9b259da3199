import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * Returns the path of a file without symbolic links, so that a file has the same companions under each of its names.
 * The file itself may be missing. A path whose folder is missing is returned as it is.
 *
 * @throws {Error} when more than 40 links follow one another
 */
export function realPath(path: string): string {
  let found = path;
  for (let links = 0; links < MOST_LINKS; links++) {
    if (lstatSync(found, { throwIfNoEntry: false }) === undefined) return inRealFolder(found);
    try {
      return realpathSync(found);
    } catch {
      // A link to a file that is missing: SQLite would create that file.
      found = resolve(dirname(found), readlinkSync(found));
    }
  }
  throw new Error(`${path}: more than ${MOST_LINKS} symbolic links follow one another. Name the file itself.`);
}

function inRealFolder(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}

const MOST_LINKS = 40;
