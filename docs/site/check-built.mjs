import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { headingOf } from './llms.mjs';

/**
 * Checks the built site: every link of a page leads to an existing page and heading, or to another host, and no page
 * loads anything from another host.
 *
 * @param {string} folder holds the built site
 * @param {string} base the path of the site on its host, with a slash at both ends
 * @returns {string[]} one sentence for each breach
 */
export function checkBuilt(folder, base) {
  const files = new Set(globSync('**/*.*', { cwd: folder }).map((path) => path.replaceAll('\\', '/')));
  const pages = new Map();
  for (const path of files) if (path.endsWith('.html')) pages.set(path, readFileSync(join(folder, path), 'utf8'));
  const ids = new Map([...pages].map(([path, html]) => [path, new Set(valuesOf(html, /\sid="([^"]*)"/g))]));
  const problems = [];
  for (const [path, html] of pages) {
    for (const url of valuesOf(html, /<(?:script|img|link|iframe|source)\b[^>]*\s(?:src|href)="([^"]*)"/g)) {
      if (isElsewhere(url)) problems.push(`${path} loads ${url} from another host.`);
    }
    for (const url of new Set(valuesOf(html, /<a\b[^>]*\shref="([^"]*)"/g))) {
      const problem = isElsewhere(url) ? undefined : deadEnd(path, url);
      if (problem !== undefined) problems.push(`${path} links to ${url}: ${problem}.`);
    }
  }
  for (const path of files) {
    if (!path.endsWith('.css')) continue;
    const loaded = valuesOf(readFileSync(join(folder, path), 'utf8'), /(?:url\(|@import\s+)["']?([^"')\s;]+)/g);
    for (const url of loaded.filter(isElsewhere)) problems.push(`${path} loads ${url} from another host.`);
  }
  return problems;

  function deadEnd(from, url) {
    const [address, hash] = url.split('#');
    const local = address.startsWith(base) ? address.slice(base.length) : posix.join(posix.dirname(from), address);
    const target =
      address === '' ? from : local === '' || local.endsWith('/') ? `${local}index.html` : decodeURIComponent(local);
    if (!files.has(target)) return 'there is no such page';
    const isHeading = hash === undefined || hash === '' || ids.get(target)?.has(decodeURIComponent(hash));
    return isHeading ? undefined : 'the page has no such heading';
  }
}

/**
 * Checks `llms.txt` of the built site: every page is listed once, with its title and a description, and every listed
 * address exists. Each page, listed or not, has its Markdown beside it.
 *
 * @param {string} folder holds the built site
 * @param {string} base the path of the site on its host, with a slash at both ends
 * @returns {string[]} one sentence for each breach
 */
export function checkListed(folder, base) {
  const list = join(folder, 'llms.txt');
  if (!existsSync(list)) return ['llms.txt: is missing. Write it with writeLlms().'];
  const text = readFileSync(list, 'utf8');
  const problems = /^# .+\n\n> .+\n\n## /.test(text)
    ? []
    : ['llms.txt: does not begin with a title, a quotation and a section.'];
  const listed = new Map();
  for (const line of text.split('\n').filter((line) => line.startsWith('- '))) {
    const [, title, url = '', description] = /^- \[(.+)\]\(([^()\s]+)\): (.*)$/.exec(line) ?? [];
    const file = url.startsWith(base) ? url.slice(base.length) : '';
    if (!file.endsWith('.md') || !existsSync(join(folder, file))) problems.push(`llms.txt lists no page: ${line}`);
    else if (listed.has(file)) problems.push(`llms.txt lists ${file} twice.`);
    else if (title !== headingOf(readFileSync(join(folder, file), 'utf8')))
      problems.push(`llms.txt lists ${file} as ${title}, which is not its title.`);
    else if (description === '')
      problems.push(`llms.txt lists ${file} without a description. Begin it with a sentence.`);
    listed.set(file, title);
  }
  const pages = globSync('**/*.html', { cwd: folder }).map((path) => path.replaceAll('\\', '/'));
  for (const path of pages.sort()) {
    if (path === '404.html') continue;
    const file = path.replace(/\.html$/, '.md');
    if (!existsSync(join(folder, file))) problems.push(`${path} has no Markdown beside it.`);
    if (!path.startsWith('source/') && !listed.has(file)) problems.push(`llms.txt does not list ${file}.`);
  }
  return problems;
}

function isElsewhere(url) {
  return /^(?!data:)([a-z][a-z0-9+.-]*:|\/\/)/i.test(url);
}

function valuesOf(text, pattern) {
  return [...text.matchAll(pattern)].map(([, value]) => value.replaceAll('&amp;', '&'));
}
