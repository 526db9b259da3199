import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryTree } from './temporary-tree.ts';

interface Target {
  readonly kind: string;
  readonly url?: string;
}

interface Section {
  readonly title: string;
  readonly groups: readonly {
    readonly title?: string;
    readonly pages: readonly { readonly path: string; readonly title: string }[];
  }[];
}

interface Site {
  anchorOf(heading: string): string;
  checkBuilt(folder: string, base: string): string[];
  checkListed(folder: string, base: string): string[];
  descriptionOf(paragraphs: readonly string[]): string;
  linkFirstMention(text: string, href: string): string;
  linkInterface(text: string, interfacePage: string, href: string): string;
  pagesOf(root: string): string[];
  routeOf(path: string): string;
  sectionsOf(root: string, navigation: object): Section[];
  targetOf(root: string, pages: ReadonlySet<string>, from: string, href: string): Target;
  withIncludedCode(root: string, path: string, text: string): { text: string; problems: string[] };
  writeLlms(root: string, staged: string, folder: string, site: object): void;
}

const files = [
  'check-built.mjs',
  'description.mjs',
  'included-code.mjs',
  'interface-links.mjs',
  'links.mjs',
  'llms.mjs',
  'pages.mjs',
  '../../tools/heading-anchor.mjs',
].map((name) => import(new URL(`../docs/site/${name}`, import.meta.url).href));
const {
  anchorOf,
  checkBuilt,
  checkListed,
  descriptionOf,
  linkFirstMention,
  linkInterface,
  pagesOf,
  routeOf,
  sectionsOf,
  targetOf,
  withIncludedCode,
  writeLlms,
}: Site = Object.assign({}, ...(await Promise.all(files)));

const TREE = {
  'README.md': '# svc\n',
  LICENSE: 'Apache',
  'docs/api.md': '# The `API`\n',
  'docs/rules.json': {},
  'docs/site/node_modules/x/README.md': '# not ours\n',
  'docs/guides/b.md': '# B\n',
  'docs/guides/a.md': '# A\n',
  'docs/reference/auth/api-key.md': '# @svc/auth/api-key\n',
  'packages/auth/README.md': '# @svc/auth\n',
  'packages/auth/src/index.ts': '',
};

describe('the pages', () => {
  test('are the Markdown files of the checkout, without installed ones', () => {
    expect(pagesOf(temporaryTree(TREE))).toEqual([
      'README.md',
      'docs/api.md',
      'docs/guides/a.md',
      'docs/guides/b.md',
      'docs/reference/auth/api-key.md',
      'packages/auth/README.md',
    ]);
  });

  test.each([
    ['docs/index.md', 'index'],
    ['README.md', 'overview'],
    ['CONTRIBUTING.md', 'contributing'],
    ['docs/api.md', 'api'],
    ['docs/reference/auth/README.md', 'reference/auth/index'],
    ['packages/auth/README.md', 'packages/auth/index'],
  ])('%s is at %s', (path, route) => {
    expect(routeOf(path)).toBe(route);
  });

  const START = { title: 'Start', pages: ['README.md', 'docs/missing.md'] };
  const REFERENCE = { title: 'Reference', pages: ['docs/api.md'], packages: ['host-kit'] };

  test('take the order of the navigation, and that of names within a pattern', () => {
    const guides = { title: 'Guides', pages: ['docs/guides/b.md', 'docs/guides/*.md'] };
    const none = { title: 'Decisions', pages: ['docs/decisions/*.md'] };
    const sections = sectionsOf(temporaryTree(TREE), { sections: [START, guides, none, REFERENCE] });
    expect(sections).toEqual([
      { title: 'Start', groups: [{ pages: [{ path: 'README.md', title: 'Overview' }] }] },
      {
        title: 'Guides',
        groups: [
          {
            pages: [
              { path: 'docs/guides/b.md', title: 'B' },
              { path: 'docs/guides/a.md', title: 'A' },
            ],
          },
        ],
      },
      {
        title: 'Reference',
        groups: [
          { pages: [{ path: 'docs/api.md', title: 'The API' }] },
          {
            title: 'auth',
            pages: [
              { path: 'packages/auth/README.md', title: 'Overview' },
              { path: 'docs/reference/auth/api-key.md', title: 'api-key' },
            ],
          },
        ],
      },
    ]);
  });

  test('fail when one of them is in no section', () => {
    expect(() => sectionsOf(temporaryTree(TREE), { sections: [START, REFERENCE] })).toThrow(
      'docs/guides/a.md: is in no section. Add it to docs/site/navigation.json.',
    );
  });
});

describe('a link', () => {
  test.each([
    ['README.md', 'docs/api.md#errors', { kind: 'page', url: '/api.md#errors' }],
    ['README.md', 'packages/auth', { kind: 'page', url: '/packages/auth/index.md' }],
    ['docs/api.md', '../packages/auth#readme', { kind: 'page', url: '/packages/auth/index.md' }],
    ['packages/auth/README.md', '../..', { kind: 'page', url: '/overview.md' }],
    ['README.md', 'LICENSE', { kind: 'source', url: '/source/LICENSE.md' }],
    ['packages/auth/README.md', 'src/', { kind: 'source', url: '/source/packages/auth/src.md' }],
    ['docs/api.md', 'rules.json', { kind: 'data', url: '/source/docs/rules.json' }],
    ['docs/api.md', 'missing.md', { kind: 'missing' }],
    ['docs/api.md', '../../elsewhere', { kind: 'missing' }],
    ['docs/api.md', '#errors', { kind: 'elsewhere' }],
    ['docs/api.md', 'https://example.com/api.md', { kind: 'elsewhere' }],
  ])('in %s to %s', (from, href, target) => {
    const root = temporaryTree(TREE);
    expect(targetOf(root, new Set(pagesOf(root)), from, href)).toMatchObject(target);
  });

  test.each([
    ['Who may import whom', 'who-may-import-whom'],
    ['`checkUrl(url, policy)`', 'checkurlurl-policy'],
    ['claim_seconds – a number?', 'claim_seconds--a-number'],
  ])('leads to the heading %s as %s', (heading, anchor) => {
    expect(anchorOf(heading)).toBe(anchor);
  });
});

describe('a mention of the interface in a docstring', () => {
  const PAGE = '# The interface\n\n## Versioning\n\n### Paths\n\n## Endpoints\n\n### API keys (machine callers)\n';

  test.each([
    ['Versioning', '#versioning'],
    ['Versioning, Paths, 3', '#paths'],
    ['Paths; RFC 9110, section 4', '#paths'],
    ['API keys, scope `runs:read`', '#api-keys-machine-callers'],
    ['Paths (both majors)', '#paths'],
    ['GET /v1/runs/{runId}', '#endpoints'],
    ['a section that has no rules', ''],
  ])('Interface: %s is a link to interface.md%s', (section, hash) => {
    expect(linkInterface(`**See**\n\nInterface: ${section}\n`, PAGE, '../interface.md')).toBe(
      `**See**\n\n[Interface](../interface.md${hash}): ${section}\n`,
    );
  });
});

describe('a mention of the interface on a page', () => {
  const linked = (...lines: readonly string[]) => linkFirstMention(lines.join('\n'), '/interface.md').split('\n');

  test('is a link where prose mentions it first', () => {
    expect(linked('# Rules', 'A rule of the interface, and the interface again.', 'Again the interface.')).toEqual([
      ...['# Rules', 'A rule of [the interface](/interface.md), and the interface again.', 'Again the interface.'],
    ]);
  });

  test('stays as it is in headings, in code and in links', () => {
    const page = [
      '# About the interface',
      '```sh',
      '# the interface',
      '```',
      '`the interface`, [the interface](api.md)',
    ];
    expect(linked(...page)).toEqual(page);
  });
});

describe('code of another page', () => {
  const PROGRAM = ['// a.ts', 'const engine = {', '  version: 1,', '};', 'const port = 1;', 'start(engine);'];
  const README = ['# auth', '```sh', 'npm i', '```', '```ts', ...PROGRAM, '```', ''].join('\n');
  const included = (line: string) =>
    withIncludedCode(temporaryTree({ 'packages/auth/README.md': README }), 'docs/index.md', page(line));
  const page = (...lines: readonly string[]) => ['# svc', '', ...lines, '', 'More.', ''].join('\n');

  test.each([
    ['the first ts block', '', PROGRAM],
    ['a statement of several lines', ': const engine', PROGRAM.slice(1, 4)],
    ['a statement of one line', ': const port', PROGRAM.slice(4, 5)],
  ])('is %s', (_, start, lines) => {
    expect(included(`<!-- code of ../packages/auth/README.md${start} -->`)).toEqual({
      text: page('```ts', ...lines, '```'),
      problems: [],
    });
  });

  test.each([
    ['../packages/auth/README.md: const host', 'has no statement that begins with const host'],
    ['missing.md', 'has no ts block'],
  ])('fails the build when it does not exist: %s', (code, problem) => {
    const comment = `<!-- code of ${code} -->`;
    const [name = ''] = code.split(':');
    expect(included(comment)).toEqual({
      text: page(comment),
      problems: [`docs/index.md: shows code of ${name}, which ${problem}. Correct the comment.`],
    });
  });
});

describe('the built site', () => {
  const PAGE = '<h1 id="top">API</h1><a href="/svc/#start">Start</a><a href="https://example.com/">there</a>';

  test('is right when every link leads somewhere and nothing comes from another host', () => {
    const folder = temporaryTree({
      'index.html': '<h1 id="start">Start</h1><a href="/svc/api.html#top">API</a><img src="data:,">',
      'api.html': PAGE,
      'style.css': '@font-face { src: url(/svc/font.woff2) }',
    });
    expect(checkBuilt(folder, '/svc/')).toEqual([]);
  });

  test('names each link that leads nowhere and each thing that another host would serve', () => {
    const folder = temporaryTree({
      'index.html': '<a href="/svc/api.html#bottom">API</a><a href="/svc/missing.html">gone</a>',
      'api.html': `${PAGE}<script src="https://cdn.example.com/a.js"></script>`,
      'style.css': '@import "//fonts.example.com/a.css";',
    });
    expect(checkBuilt(folder, '/svc/').sort()).toEqual([
      'api.html links to /svc/#start: the page has no such heading.',
      'api.html loads https://cdn.example.com/a.js from another host.',
      'index.html links to /svc/api.html#bottom: the page has no such heading.',
      'index.html links to /svc/missing.html: there is no such page.',
      'style.css loads //fonts.example.com/a.css from another host.',
    ]);
  });
});

describe('the list of the pages', () => {
  const SITE = {
    ...{ base: '/svc/', title: 'svc', description: 'A toolkit' },
    sections: [
      { title: 'Guides', groups: [{ pages: [{ path: 'docs/guides/a.md', title: 'A' }] }] },
      {
        title: 'Reference',
        groups: [{ title: 'auth', pages: [{ path: 'packages/auth/README.md', title: 'Overview' }] }],
      },
    ],
  };

  /** A site of two listed pages and a file that one of them links to. */
  function built(): string {
    const guide = '[auth](../../packages/auth#keys), [`x`](../../LICENSE), [rules](/interface.md) and `[a](b.md)`';
    const root = temporaryTree({
      LICENSE: 'Apache',
      'docs/guides/a.md': '# A\n',
      'packages/auth/README.md': '# `@svc/auth`\n',
    });
    const staged = temporaryTree({
      'guides/a.md': `---\ndescription: "Says \\"a\\"."\n---\n\n# A\n\n${guide}\n\n\`\`\`md\n[a](b.md)\n\`\`\`\n`,
      'packages/auth/index.md':
        '---\ndescription: "Checks keys."\n---\n\n# `@svc/auth`\n\n[A](../../docs/guides/a.md)\n',
      'source/LICENSE.md': '---\nsearch: false\n---\n\n# LICENSE\n\nApache\n',
    });
    const pages = ['404.html', 'guides/a.html', 'packages/auth/index.html', 'source/LICENSE.html'];
    const folder = temporaryTree(Object.fromEntries(pages.map((path) => [path, '<h1>page</h1>'])));
    writeLlms(root, staged, folder, SITE);
    return folder;
  }

  test('has each page with its title and its description, in sections', () => {
    const folder = built();
    expect(readFileSync(join(folder, 'llms.txt'), 'utf8')).toBe(
      [
        ...['# svc', '', '> A toolkit', '', '## Guides', '', '- [A](/svc/guides/a.md): Says "a".', ''],
        ...['## Reference: auth', '', '- [@svc/auth](/svc/packages/auth/index.md): Checks keys.', ''],
      ].join('\n'),
    );
    expect(checkListed(folder, '/svc/')).toEqual([]);
  });

  test('leads to pages in Markdown, whose links lead to Markdown, and whose code is unchanged', () => {
    expect(readFileSync(join(built(), 'guides/a.md'), 'utf8')).toBe(
      '# A\n\n[auth](/svc/packages/auth/index.md#keys), [`x`](/svc/source/LICENSE.md), [rules](/svc/interface.md) and ' +
        '`[a](b.md)`\n\n```md\n[a](b.md)\n```\n',
    );
  });

  test('fails the build when it lacks a page, lists one twice, or lists one that does not exist', () => {
    const folder = built();
    const list = join(folder, 'llms.txt');
    rmSync(join(folder, 'source/LICENSE.md'));
    const lines = [
      '- [B](/svc/guides/a.md): Says.',
      '- [A](/svc/guides/a.md): Again.',
      '- [C](/svc/guides/c.md): Gone.',
    ];
    writeFileSync(list, `# svc\n\n## Guides\n\n${lines.join('\n')}\n`);
    expect(checkListed(folder, '/svc/')).toEqual([
      'llms.txt: does not begin with a title, a quotation and a section.',
      'llms.txt lists guides/a.md as B, which is not its title.',
      'llms.txt lists guides/a.md twice.',
      'llms.txt lists no page: - [C](/svc/guides/c.md): Gone.',
      'llms.txt does not list packages/auth/index.md.',
      'source/LICENSE.html has no Markdown beside it.',
    ]);
    writeFileSync(list, '# svc\n\n> A toolkit\n\n## Guides\n\n- [A](/svc/guides/a.md): \n');
    expect(checkListed(folder, '/svc/')).toContain(
      'llms.txt lists guides/a.md without a description. Begin it with a sentence.',
    );
    rmSync(list);
    expect(checkListed(folder, '/svc/')).toEqual(['llms.txt: is missing. Write it with writeLlms().']);
  });
});

test.each([
  ['the first paragraph', ['Calls a URL. Judges it.', 'More.'], 'Calls a URL. Judges it.'],
  ['the first paragraph with a sentence', ['Reference / @svc/auth', 'Checks keys.'], 'Checks keys.'],
  ['whole sentences', ['You need Node 22.19 and curl. In an empty folder:'], 'You need Node 22.19 and curl.'],
  ['200 characters of sentences', [`${'a'.repeat(150)}. ${'b'.repeat(60)}.`], `${'a'.repeat(150)}.`],
  ['a longer sentence as a whole', [`${'a'.repeat(250)}.`], `${'a'.repeat(250)}.`],
  ['nothing of a page without a sentence', ['Reference'], ''],
])('the description of a page is %s', (_, paragraphs, description) => {
  expect(descriptionOf(paragraphs)).toBe(description);
});
