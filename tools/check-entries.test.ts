import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryTree } from './temporary-tree.ts';

interface Entry {
  name: string;
  runtime: 'neutral' | 'node';
  kB: number;
}
interface Check {
  checkEntries(root: string, entries: readonly Entry[]): Promise<{ problems: string[]; measures: { kB: number }[] }>;
}

const { checkEntries }: Check = await import(new URL('./check-entries.mjs', import.meta.url).href);

const ENTRY: Entry = { name: '@svc/a', runtime: 'neutral', kB: 1 };

/** A built package with one entry, found as npm would have linked it. */
function built(files: Record<string, string>, manifest: object = {}): string {
  const exports = { '.': { default: './dist/index.js' }, './package.json': './package.json' };
  const all = { 'package.json': { name: '@svc/a', type: 'module', exports, ...manifest }, ...files };
  const root = temporaryTree(
    Object.fromEntries(Object.entries(all).map(([path, text]) => [`packages/a/${path}`, text])),
  );
  mkdirSync(join(root, 'node_modules/@svc'), { recursive: true });
  symlinkSync(join(root, 'packages/a'), join(root, 'node_modules/@svc/a'), 'junction');
  return root;
}

const problemsOf = async (root: string, entries: readonly Entry[] = [ENTRY]) =>
  (await checkEntries(root, entries)).problems;

describe('the built entries', () => {
  test('pass when they are listed, import, and keep their runtime and budget', async () => {
    const root = built({ 'dist/index.js': 'export const a = 1;' });
    const { problems, measures } = await checkEntries(root, [ENTRY]);
    expect(problems).toEqual([]);
    expect(measures[0]?.kB).toBeGreaterThan(0);
  });

  test('fail when one is exported and not listed', async () => {
    const root = built({ 'dist/index.js': '' });
    expect(await problemsOf(root, [])).toEqual(['@svc/a is exported, and tools/entries.mjs does not list it']);
  });

  test('fail when one is listed and not exported', async () => {
    const root = built({ 'dist/index.js': '' });
    const entries = [ENTRY, { ...ENTRY, name: '@svc/a/b' }];
    expect(await problemsOf(root, entries)).toEqual(['@svc/a/b is in tools/entries.mjs, and nothing exports it']);
  });

  test.each(['node:fs', 'fs', 'node:sqlite', 'fs/promises'])('fail when a neutral one reaches %s', async (name) => {
    const files = {
      'dist/index.js': "export { b } from './b.js';",
      'dist/b.js': `import '${name}'; export const b = 1;`,
    };
    const root = built(files, { sideEffects: false });
    expect(await problemsOf(root)).toContainEqual(
      expect.stringMatching(`^@svc/a is neutral, but .*b.js imports ${name}$`),
    );
    expect(await problemsOf(root, [{ ...ENTRY, runtime: 'node' }])).not.toContainEqual(
      expect.stringContaining('neutral'),
    );
  });

  test('take what a browser takes of private imports', async () => {
    const imports = { '#hmac': { node: './dist/node.js', default: './dist/portable.js' } };
    const files = {
      'dist/index.js': "export * as hmac from '#hmac';",
      'dist/node.js': "import 'node:crypto';",
      'dist/portable.js': 'export const hmac = 1;',
    };
    expect(await problemsOf(built(files, { imports }))).toEqual([]);
  });

  test('fail when one is over its budget', async () => {
    const noise = Array.from({ length: 4000 }, (_, index) => Math.sin(index).toString(36)).join('');
    const root = built({ 'dist/index.js': `export const a = '${noise}';` });
    expect(await problemsOf(root)).toEqual([expect.stringMatching(/^@svc\/a has [\d.]+ kB, over its budget of 1 kB$/)]);
  });

  test('fail when one does not import', async () => {
    const root = built({ 'dist/index.js': "throw new Error('not today');" });
    expect(await problemsOf(root)).toEqual([expect.stringContaining('not today')]);
  });

  test('fail when one leads nowhere', async () => {
    const root = built({ 'dist/index.js': "export * as b from './gone.js';" });
    expect(await problemsOf(root)).toEqual([expect.stringContaining('@svc/a cannot be bundled')]);
  });
});
