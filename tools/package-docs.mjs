import { posix } from 'node:path';
import { anchorOf } from './heading-anchor.mjs';
import { withLinks } from './with-links.mjs';

/** The most that the guides of a package may add to it, in bytes. */
const BUDGET = 150_000;

/**
 * Checks the guides of a tarball: each link leads to a file and a heading of the tarball or to an address on the web, and all
 * of them together are small.
 *
 * @param {readonly string[]} files the paths in it
 * @param {(path: string) => string} read returns the text of a file
 * @returns {string[]} one sentence for each problem
 */
export function docsProblems(files, read) {
  const present = new Set(files);
  const pages = files.filter((path) => path.startsWith('docs/'));
  const problems = pages.flatMap((page) =>
    linksIn(read(page)).flatMap((href) => {
      if (/^https?:/.test(href)) return [];
      const [written = '', hash] = href.split('#');
      const target = written === '' ? page : posix.join(posix.dirname(page), written);
      if (!present.has(target)) return [`${page} links to ${href}, which the tarball does not hold`];
      if (hash === undefined || headingsIn(read(target)).has(hash)) return [];
      return [`${page} links to ${href}, but ${target} has no such heading`];
    }),
  );
  const bytes = pages.reduce((sum, page) => sum + Buffer.byteLength(read(page)), 0);
  if (bytes > BUDGET) problems.push(`docs/ has ${bytes} bytes, and may have ${BUDGET}`);
  return problems;
}

function linksIn(text) {
  const links = [];
  withLinks(text, (href) => {
    links.push(href);
    return href;
  });
  return links;
}

function headingsIn(text) {
  const withoutCode = text.replace(/^```[\s\S]*?^```/gm, '');
  return new Set([...withoutCode.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading)));
}
