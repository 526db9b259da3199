import { globSync, readFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';

/** The Markdown files that are pages of the site. */
const PAGES = [
  '*.md',
  '*/README.md',
  'packages/*/README.md',
  'packages/*/vectors/README.md',
  'examples/*/README.md',
  'receivers/*/README.md',
  'examples/*/*/README.md',
  'docs/**/*.md',
];

/** The home page of the site: the README is for a repository and a registry, whose reader has already found svc. */
export const HOME = 'docs/index.md';

/**
 * Lists the pages of a checkout.
 *
 * @param {string} root
 * @returns {string[]} paths from the root, sorted
 */
export function pagesOf(root) {
  const exclude = (path) => /(^|\/)(node_modules|dist|\.[^/]+)(\/|$)/.test(slashed(path));
  const found = PAGES.flatMap((pattern) => globSync(pattern, { cwd: root, exclude })).map(slashed);
  return [...new Set(found)].filter((path) => !exclude(path)).sort();
}

/**
 * Gives the path of a page on the site, without an extension; `index` at its end is the page of a folder.
 * `docs/api.md` becomes `api`, `packages/auth/README.md` becomes `packages/auth/index`. The README of the checkout becomes
 * `overview`, because `docs/index.md` is the page of the root.
 *
 * @param {string} path from the root
 */
export function routeOf(path) {
  if (path === 'README.md') return 'overview';
  const route = path.replace(/\.md$/, '').replace(/^docs\//, '');
  return route.replace(/(^|\/)README$/, '$1index').toLowerCase();
}

/**
 * Puts every page into its section, in the order of `navigation.json`; the pages of one pattern are ordered by name. A
 * page that is named there and does not exist is left out, and so is a section without pages.
 *
 * @param {string} root
 * @param {{ sections: Section[] }} navigation
 * @returns {{ title: string, groups: { title?: string, pages: { path: string, title: string }[] }[] }[]}
 * @throws {Error} when a page is in no section
 *
 * @typedef {{ title: string, pages: string[], packages?: string[] }} Section
 *   `pages` are paths or patterns; `packages` says which packages come first, each with its README and its reference
 */
export function sectionsOf(root, navigation) {
  const left = new Set(pagesOf(root));
  const named = new Set(navigation.sections.flatMap(({ pages }) => pages));
  // A page that is named somewhere goes there, even when a pattern before it fits.
  const take = (pattern) =>
    [...left].filter(
      (path) => (path === pattern || (!named.has(path) && matchesGlob(path, pattern))) && left.delete(path),
    );
  const sections = navigation.sections.map(({ title, pages, packages }) => {
    const own = { pages: pages.flatMap(take) };
    const folders = packages === undefined ? [] : inOrder(packages, packagesWithPages(left));
    const groups = folders.map((folder) => ({
      title: folder,
      pages: [
        `packages/${folder}/README.md`,
        `docs/reference/${folder}/README.md`,
        `docs/reference/${folder}/**`,
      ].flatMap(take),
    }));
    return { title, groups: [own, ...groups].filter((group) => group.pages.length > 0) };
  });
  if (left.size > 0) {
    const sentences = [...left].map((path) => `${path}: is in no section. Add it to docs/site/navigation.json.`);
    throw new Error(sentences.join('\n'));
  }
  return sections
    .filter(({ groups }) => groups.length > 0)
    .map(({ title, groups }) => ({
      title,
      groups: groups.map((group) => ({
        ...group,
        pages: group.pages.map((path) => ({ path, title: titleOf(root, path, group.title) })),
      })),
    }));
}

function packagesWithPages(paths) {
  const folders = [...paths].map((path) => /^(?:packages|docs\/reference)\/([^/]+)\//.exec(path)?.[1]);
  return [...new Set(folders.filter((folder) => folder !== undefined))].sort();
}

/** Those that are listed come first, in the order of the list. */
function inOrder(listed, all) {
  return [...listed.filter((name) => all.includes(name)), ...all.filter((name) => !listed.includes(name))];
}

/** In the group of a package the package's name goes without saying. */
function titleOf(root, path, group) {
  if (path === 'README.md') return 'Overview';
  if (path === 'docs/reference/README.md') return 'All entries';
  if (group !== undefined && path === `packages/${group}/README.md`) return 'Overview';
  const heading = /^# +(.+)$/m.exec(readFileSync(`${root}/${path}`, 'utf8'))?.[1] ?? path;
  const title = heading.replace(/[`*]/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return group === undefined ? title : title.replace(`@svc/${group}/`, '');
}

function slashed(path) {
  return path.replaceAll('\\', '/');
}
