import { describe, expect, test } from 'vitest';

interface Docs {
  docsProblems(files: readonly string[], read: (path: string) => string): string[];
}
interface Writer {
  packagedPage(
    text: string,
    page: string,
    into: { folder: string; pages: readonly string[]; repository: string },
  ): string;
}
const { docsProblems }: Docs = await import(new URL('./package-docs.mjs', import.meta.url).href);
const { packagedPage }: Writer = await import(new URL('./write-package-docs.mjs', import.meta.url).href);

describe('a guide in a package', () => {
  const into = {
    folder: 'packages/auth',
    pages: ['guides/keys.md', 'scopes.md'],
    repository: 'https://repository.example/svc',
  };

  test.each([
    ['another guide of the package', '../scopes.md#roles', '../scopes.md#roles'],
    ['its README', '../../packages/auth/README.md#keys', '../../README.md#keys'],
    ['its folder', '../../packages/auth', '../../README.md'],
    [
      'another page',
      '../start/run-a-host.md#keys',
      'https://repository.example/svc/tree/main/docs/start/run-a-host.md#keys',
    ],
    ['a heading of its own', '#keys', '#keys'],
    ['another host', 'https://example.com/', 'https://example.com/'],
  ])('leads to %s', (_, href, led) => {
    expect(packagedPage(`[a](${href}) and \`[a](b.md)\`\n`, 'guides/keys.md', into)).toBe(
      `[a](${led}) and \`[a](b.md)\`\n`,
    );
  });

  test('has no comments of this repository', () => {
    expect(packagedPage('# Keys\n\n<!-- run by a.test.ts -->\n\nText.\n', 'guides/keys.md', into)).toBe(
      '# Keys\n\nText.\n',
    );
  });
});

describe('the guides of a tarball', () => {
  const problemsOf = (texts: Readonly<Record<string, string>>) =>
    docsProblems(Object.keys(texts), (path) => texts[path] ?? '');

  test('are right when each link leads to a file, a heading or the web', () => {
    const page = '# Keys\n\n[a](../../README.md#two-words) [b](#keys) [c](https://example.com/x.md)\n';
    expect(problemsOf({ 'README.md': '# auth\n\n## Two words\n', 'docs/guides/keys.md': page })).toEqual([]);
  });

  test('are refused for a link that leads nowhere, and for a size above the budget', () => {
    const page = '[a](b.md) [c](../README.md#none) [d](#code)\n\n```sh\n# code\n```\n';
    expect(problemsOf({ 'README.md': '# auth\n', 'docs/keys.md': page, 'docs/long.md': 'a'.repeat(150_000) })).toEqual([
      'docs/keys.md links to b.md, which the tarball does not hold',
      'docs/keys.md links to ../README.md#none, but README.md has no such heading',
      'docs/keys.md links to #code, but docs/keys.md has no such heading',
      `docs/ has ${150_000 + page.length} bytes, and may have 150000`,
    ]);
  });
});
