import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { routeOf } from './pages.mjs';

/**
 * Finds the target of a link in a Markdown file. One link serves readers of the repository and readers of the site.
 *
 * @param {string} root a checkout
 * @param {ReadonlySet<string>} pages paths of the pages
 * @param {string} from path of the page with the link
 * @param {string} href as it is written
 * @returns {Target}
 *
 * @typedef {{ kind: 'elsewhere' | 'missing' } | { kind: 'page' | 'source' | 'data', path: string, url: string }} Target
 *   `elsewhere` is another host, or a heading of the same page. `source` is a file or folder that the site shows as a
 *   page, and `data` a file that it hands out as it is.
 */
export function targetOf(root, pages, from, href) {
  if (/^([a-z][a-z0-9+.-]*:|\/\/|#|$)/i.test(href)) return { kind: 'elsewhere' };
  const [written, hash] = href.split(/(?=#)/);
  const path = posix.join(posix.dirname(from), decodeURIComponent(written)).replace(/\/$/, '');
  if (path.startsWith('..') || !existsSync(join(root, path))) return { kind: 'missing' };
  const page = [path, posix.join(path, 'README.md')].find((candidate) => pages.has(candidate));
  if (page === undefined && DATA.test(path)) return { kind: 'data', path, url: `/${sourceRouteOf(path)}` };
  if (page === undefined) return { kind: 'source', path, url: `/${sourceRouteOf(path)}.md` };
  // A repository browser shows the README.md of a folder below its files, with this anchor.
  const anchor = hash === undefined || hash === '#readme' ? '' : hash;
  return { kind: 'page', path: page, url: `/${routeOf(page)}.md${anchor}` };
}

const DATA = /\.(json|png|svg|jpe?g)$/;

/**
 * Gives the path on the site of a file or folder that is no page.
 *
 * @param {string} root a checkout
 * @param {string} path from the root
 */
export function sourceRouteOf(path) {
  return `source/${path}`;
}
