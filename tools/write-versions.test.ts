import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryTree } from './temporary-tree.ts';

interface Versions {
  versionsBehind(root: string): { path: string; text: string }[];
}

const { versionsBehind }: Versions = await import(new URL('./write-versions.mjs', import.meta.url).href);

test('every package of this repository has the version of its manifest', () => {
  expect(versionsBehind(fileURLToPath(new URL('..', import.meta.url)))).toEqual([]);
});

test('finds an outdated version, and no other file', () => {
  const files = (version: string) => ({
    'packages/a/package.json': { version },
    'packages/a/src/version.ts': '/** Written by `tools/write-versions.mjs`. */\n',
    'packages/b/package.json': { version },
    'packages/b/src/version.ts': 'export const GRAMMAR = /^[0-9]+$/;\n',
    'packages/b/src/package-version.ts': '/** Written by `tools/write-versions.mjs`. */\n',
    'packages/c/package.json': { version },
  });
  const found = versionsBehind(temporaryTree(files('2.3.0-rc.1')));
  expect(found.map(({ path }) => path)).toEqual(['packages/a/src/version.ts', 'packages/b/src/package-version.ts']);
  for (const { text } of found) expect(text).toContain(`VERSION: string = '2.3.0-rc.1';`);
  const written = Object.fromEntries(found.map(({ path, text }) => [path, text]));
  expect(versionsBehind(temporaryTree({ ...files('2.3.0-rc.1'), ...written }))).toEqual([]);
});
