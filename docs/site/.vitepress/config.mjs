import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { anchorOf } from '../../../tools/heading-anchor.mjs';
import { targetOf } from '../links.mjs';
import { ROOT } from '../model.mjs';
import { HOME, pagesOf, routeOf, sectionsOf } from '../pages.mjs';

const navigation = JSON.parse(readFileSync(new URL('../navigation.json', import.meta.url), 'utf8'));
/** The name of the site leads to the home page, so no section shows it. */
const sections = sectionsOf(ROOT, navigation).map(({ title, groups }) => ({
  title,
  groups: groups.map((group) => ({ ...group, pages: group.pages.filter(({ path }) => path !== HOME) })),
}));
const pages = new Set(pagesOf(ROOT));
const pathOf = new Map([...pages].map((path) => [`${routeOf(path)}.md`, path]));

export default defineConfig({
  title: 'svc',
  description: 'A toolkit for hosts of workflow runs and for receivers of their webhooks',
  lang: 'en-GB',
  srcDir: '.cache/pages',
  cacheDir: '.cache/vitepress',
  // A browser asks for /favicon.ico unless a page names an icon.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  themeConfig: {
    nav: sections.map(({ title, groups }) => ({
      text: title,
      link: linkTo(groups[0].pages[0].path),
      activeMatch: `^/(${groups.flatMap((group) => group.pages.map(({ path }) => patternOf(path))).join('|')})$`,
    })),
    sidebar: sections.map(({ title, groups }) => ({
      text: title,
      // The section of the page is open. All of them together are longer than any screen.
      collapsed: true,
      items: groups.flatMap((group) =>
        group.title === undefined ? itemsOf(group) : [{ text: group.title, collapsed: true, items: itemsOf(group) }],
      ),
    })),
    outline: { level: [2, 3] },
    search: {
      provider: 'local',
      options: { _render: renderForSearch, miniSearch: { searchOptions: { boostDocument: weightOf } } },
    },
  },
  vite: { build: { chunkSizeWarningLimit: 2_000 }, logLevel: 'warn' },
  markdown: {
    anchor: { slugify: anchorOf },
    config: (md) => {
      md.core.ruler.push('links-of-the-repository', leadLinks);
      const text = md.renderer.rules.text;
      // A page is a Vue template, in which braces would be evaluated.
      md.renderer.rules.text = (...given) => text(...given).replaceAll('{{', '&#123;&#123;');
    },
  },
});

/** Makes a symbol of the reference one result. Otherwise its Parameters, Returns and so on would each be another. */
function renderForSearch(text, env, md) {
  const html = md.render(text, env);
  if (env.frontmatter?.search === false) return '';
  return env.relativePath.startsWith('reference/') ? html.replace(/<(\/?)h[4-6]\b/g, '<$1p') : html;
}

/** A guide answers most questions, and the reference has most words. The browser calls this, so it stands alone. */
function weightOf(page) {
  return /^\/(?:start|guides|packages|examples|operations|conformance)\b/.test(page) ? 5 : 1;
}

/** The attribute of each token that leads to another file. */
const LEADING = { link_open: 'href', image: 'src' };

/** Replaces each link between files of the repository by the link between their pages, and to the pictures on the site. */
function leadLinks({ tokens, env }) {
  const from = pathOf.get(env.relativePath);
  if (from === undefined) return;
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    const attribute = LEADING[token.type];
    if (attribute === undefined) continue;
    const target = targetOf(ROOT, pages, from, token.attrGet(attribute));
    if (target.url !== undefined) token.attrSet(attribute, target.url);
  }
}

function itemsOf(group) {
  return group.pages.map(({ path, title }) => ({ text: title, link: linkTo(path) }));
}

function linkTo(path) {
  return `/${routeOf(path)}`.replace(/\/index$/, '/');
}

function patternOf(path) {
  return `${routeOf(path).replace(/(^|\/)index$/, '$1')}(\\.html)?`;
}
