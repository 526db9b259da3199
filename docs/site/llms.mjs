import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withLinks } from '../../tools/with-links.mjs';
import { targetOf } from './links.mjs';
import { pagesOf, routeOf } from './pages.mjs';

/**
 * Writes each page of the site as Markdown beside its HTML, and `llms.txt`, a list of the pages for programs that read
 * text. Every link leads to the Markdown of its page.
 *
 * @param {string} root a checkout
 * @param {string} staged holds the pages that the site was built from
 * @param {string} folder holds the built site
 * @param {{ base: string, title: string, description: string, sections: ReturnType<import('./pages.mjs').sectionsOf> }} site
 *   `base` is the path of the site on its host, with a slash at both ends
 * @see https://llmstxt.org
 */
export function writeLlms(root, staged, folder, { base, title, description, sections }) {
  const pages = new Set(pagesOf(root));
  const pathOf = new Map([...pages].map((path) => [`${routeOf(path)}.md`, path]));
  /** @type {Map<string, string>} the description of each page, by its file */
  const descriptions = new Map();
  for (const found of globSync('**/*.md', { cwd: staged, exclude: ['public/**'] })) {
    const file = found.replaceAll('\\', '/');
    const { head, text } = partsOf(readFileSync(join(staged, file), 'utf8'));
    descriptions.set(file, descriptionIn(head));
    const from = pathOf.get(file);
    const lead = (href) => {
      if (isElsewhere(href)) return href;
      // The site itself adds links that begin at its root.
      const url = href.startsWith('/') || from === undefined ? href : targetOf(root, pages, from, href).url;
      return `${base}${url.slice(1)}`;
    };
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), withLinks(text, lead));
  }
  const lists = sections.flatMap((section) =>
    section.groups.map((group) => {
      const items = group.pages.map(({ path }) => {
        const file = `${routeOf(path)}.md`;
        const heading = headingOf(readFileSync(join(folder, file), 'utf8')) ?? path;
        return `- [${heading}](${base}${file}): ${descriptions.get(file)}\n`;
      });
      const name = group.title === undefined ? section.title : `${section.title}: ${group.title}`;
      return `## ${name}\n\n${items.join('')}`;
    }),
  );
  writeFileSync(join(folder, 'llms.txt'), [`# ${title}\n`, `> ${description}\n`, ...lists].join('\n'));
}

/**
 * Returns the first heading of a Markdown text, in plain text.
 *
 * @param {string} text
 * @returns {string | undefined}
 */
export function headingOf(text) {
  const heading = /^# +(.+)$/m.exec(text)?.[1];
  return heading?.replace(/[`*\\]/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
}

/** Separates the settings of a staged page from its text. */
function partsOf(page) {
  const [whole, head = ''] = /^---\n(.*?)---\n+/s.exec(page) ?? [''];
  return { head, text: page.slice(whole.length) };
}

function descriptionIn(head) {
  const [, value = '""'] = /^description: (.*)$/m.exec(head) ?? [];
  return JSON.parse(value);
}

/** Another host, or a heading of the same page. */
function isElsewhere(href) {
  return /^([a-z][a-z0-9+.-]*:|\/\/|#)/i.test(href);
}
