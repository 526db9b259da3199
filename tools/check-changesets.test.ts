import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { temporaryTree } from './temporary-tree.ts';

interface Check {
  checkChangesets(root: string): string[];
}

const { checkChangesets }: Check = await import(new URL('./check-changesets.mjs', import.meta.url).href);

test('the changesets of this repository can be released', () => {
  expect(checkChangesets(fileURLToPath(new URL('..', import.meta.url)))).toEqual([]);
});

const TREE = {
  'package.json': { workspaces: ['packages/*', 'examples/*', 'tools'] },
  'tools/package.json': { name: '@svc/tools', private: true },
  'bench/package.json': { name: '@svc/bench', private: true },
  '.changeset/config.json': { ignore: ['@svc/example', '@svc/tools'] },
  '.changeset/README.md': 'About this folder.',
  'packages/a/package.json': { name: '@svc/a' },
  'examples/example/package.json': { name: '@svc/example', private: true },
};

describe('a changeset', () => {
  const problemsOf = (text: string) => checkChangesets(temporaryTree({ ...TREE, '.changeset/one.md': text }));

  test('passes when it names packages, their bumps and the change', () => {
    expect(problemsOf("---\n'@svc/a': minor\n---\n\nIt does more.\n")).toEqual([]);
  });

  test.each([
    ['without its head', 'It does more.', 'has no front matter'],
    ['without a text', "---\n'@svc/a': minor\n---\n", 'does not say what changes'],
    ['without a package', '---\n\n---\nIt does more.', 'releases nothing'],
    ['of an unknown package', "---\n'@svc/b': minor\n---\nIt does more.", 'releases @svc/b, which is not published'],
    [
      'of a private package',
      "---\n'@svc/example': minor\n---\nIt does more.",
      'releases @svc/example, which is not published',
    ],
    ['of an unknown bump', "---\n'@svc/a': huge\n---\nIt does more.", 'releases @svc/a as huge'],
    ['with a malformed line', '---\n@svc/a\n---\nIt does more.', 'has a line that does not name a release: @svc/a'],
  ])('is rejected %s', (_, text, problem) => {
    expect(problemsOf(text)).toEqual([expect.stringContaining(`.changeset/one.md ${problem}`)]);
  });
});

test('names a private workspace that could be released', () => {
  const tree = { ...TREE, '.changeset/config.json': {} };
  expect(checkChangesets(temporaryTree(tree))).toEqual([
    expect.stringContaining('does not ignore the private @svc/example'),
    expect.stringContaining('does not ignore the private @svc/tools'),
  ]);
});
