import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import MarkdownIt from 'markdown-it';
import { descriptionOf } from './description.mjs';
import { withIncludedCode } from './included-code.mjs';
import { linkFirstMention } from './interface-links.mjs';
import { sourceRouteOf, targetOf } from './links.mjs';
import { HOME, pagesOf, routeOf } from './pages.mjs';

/** A linked folder without a README.md is shown as a list of its files, and each of them as a page. */
const MOST_FILES = 50;

/**
 * Copies the pages to the folder that the generator reads, each under its path on the site, and adds a page for each
 * other file or folder of the checkout that a page links to.
 *
 * @param {string} root a checkout
 * @param {string} folder is emptied first
 * @returns {string[]} one sentence for each link that leads nowhere, and for each inclusion of code that does not exist
 */
export function stage(root, folder) {
  rmSync(folder, { recursive: true, force: true });
  const pages = new Set(pagesOf(root));
  const problems = [];
  for (const path of pages) {
    const { text, problems: missing } = withIncludedCode(root, path, readFileSync(join(root, path), 'utf8'));
    problems.push(...missing);
    put(folder, routeOf(path), staged(path, text));
    for (const { href, line } of linksIn(text)) {
      const target = targetOf(root, pages, path, href);
      const problem = target.kind === 'missing' ? 'which does not exist' : putSource(root, folder, target);
      if (problem !== undefined) problems.push(`${path}:${line} links to ${href}, ${problem}.`);
    }
  }
  return problems;
}

/** Each page leads to the rules of the interface once. The pages of the reference have links of their own. */
function staged(path, text) {
  const isReference = path.startsWith('docs/reference/');
  const head = frontmatter({
    description: descriptionOf(paragraphsOf(text)),
    ...(isReference && REFERENCE),
    ...(path === HOME && AT_HOME),
  });
  return head + (isReference || path === INTERFACE ? text : linkFirstMention(text, `/${routeOf(INTERFACE)}.md`));
}

/** The paragraphs of a Markdown text, in plain text. */
function paragraphsOf(text) {
  const tokens = new MarkdownIt({ html: true }).parse(text, {});
  return tokens
    .filter((_, index) => tokens[index - 1]?.type === 'paragraph_open')
    .map(({ children }) => children.map(plainText).join(''));
}

function plainText({ type, content }) {
  if (type === 'softbreak') return ' ';
  return type === 'html_inline' ? '' : content;
}

function frontmatter(fields) {
  return `---\n${Object.entries(fields)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join('')}---\n\n`;
}

const INTERFACE = 'docs/interface.md';

/** Of a page that the style sheet sets as reference. */
const REFERENCE = { pageClass: 'reference' };

/** Of the home page, which has the whole width: no section, no outline, no page before it or after it. */
const AT_HOME = { pageClass: 'home', sidebar: false, aside: false, prev: false, next: false };

/** The links and images of a Markdown text, each with the line on which its block begins. */
function linksIn(text) {
  const links = [];
  let line = 1;
  for (const { children, map } of new MarkdownIt({ html: true }).parse(text, {})) {
    // The cells of a table have no line of their own, but its rows have.
    if (map !== null) line = map[0] + 1;
    for (const token of children ?? []) {
      const href = token.attrGet('href') ?? token.attrGet('src');
      if (href !== null) links.push({ href, line });
    }
  }
  return links;
}

/** Shows a file as a page, and a folder as a list of links to its files. Data is handed out as it is. */
function putSource(root, folder, { kind, path }) {
  if (kind === 'data') {
    const file = join(folder, 'public/source', path);
    mkdirSync(dirname(file), { recursive: true });
    copyFileSync(join(root, path), file);
  }
  if (kind !== 'source') return undefined;
  if (statSync(join(root, path)).isFile()) {
    putFile(root, folder, path);
    return undefined;
  }
  const files = filesBelow(root, path);
  if (files.length > MOST_FILES) return `a folder of ${files.length} files without a README.md`;
  for (const file of files) putFile(root, folder, `${path}/${file}`);
  const list = files.map((file) => `- [\`${file}\`](/${sourceRouteOf(`${path}/${file}`)}.md)`);
  put(folder, sourceRouteOf(path), `${HIDDEN}# ${path}\n\n${list.join('\n')}\n`);
  return undefined;
}

/** Of a page that is in no section and is not searched. */
const HIDDEN = '---\nsearch: false\nprev: false\nnext: false\noutline: false\n---\n\n';

function putFile(root, folder, path) {
  const text = readFileSync(join(root, path), 'utf8');
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  const language = LANGUAGES[extname(path)] ?? 'txt';
  put(folder, sourceRouteOf(path), `${HIDDEN}# ${path}\n\n${fence}${language}\n${text.trimEnd()}\n${fence}\n`);
}

const LANGUAGES = {
  '.ts': 'ts',
  '.mjs': 'js',
  '.js': 'js',
  '.json': 'json',
  '.sh': 'sh',
  '.sql': 'sql',
  '.md': 'md',
  '.yml': 'yaml',
};

function filesBelow(root, path) {
  const isLeftOut = (name) => /(^|[\\/])(node_modules|dist|\.[^\\/]+)$/.test(name);
  const found = globSync('**/*', { cwd: join(root, path), exclude: isLeftOut });
  const files = found.filter((name) => !isLeftOut(name) && statSync(join(root, path, name)).isFile());
  return files.map((name) => name.replaceAll('\\', '/')).sort();
}

function put(folder, route, text) {
  const file = join(folder, `${route}.md`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
