import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryTree } from './temporary-tree.ts';

interface Entry {
  name: string;
  runtime: 'neutral' | 'node';
  promised?: number;
}
interface Check {
  checkEntries(
    root: string,
    entries: readonly Entry[],
    sizes: Readonly<Record<string, number>>,
  ): Promise<{ problems: string[]; measures: { kB: number }[] }>;
}

interface ImportTime {
  importTime(root: string, entry: { name: string }, deadlineMs?: number): { failure?: string; ms?: number };
}

const { checkEntries, importTime }: Check & ImportTime = await import(
  new URL('./check-entries.mjs', import.meta.url).href
);

const ENTRY: Entry = { name: '@svc/a', runtime: 'neutral' };
const SIZES = { '@svc/a': 1 };

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
  (await checkEntries(root, entries, SIZES)).problems;

describe('the built entries', () => {
  test('pass when they are listed, import, and keep their runtime and size', async () => {
    const root = built({ 'dist/index.js': 'export const a = 1;' });
    const { problems, measures } = await checkEntries(root, [ENTRY], SIZES);
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

  describe('of a size', () => {
    const noise = Array.from({ length: 4000 }, (_, index) => Math.sin(index).toString(36)).join('');
    const files = { 'dist/index.js': `export const a = '${noise}';` };
    const problemsAt = async (accepted: number | undefined, promised?: number) => {
      const entry = promised === undefined ? ENTRY : { ...ENTRY, promised };
      const sizes = accepted === undefined ? {} : { '@svc/a': accepted };
      return (await checkEntries(built(files), [entry], sizes)).problems;
    };

    test('may grow by 3 %, and fail when one has grown by more', async () => {
      const { measures } = await checkEntries(built(files), [ENTRY], SIZES);
      const kB = measures[0]?.kB ?? 0;
      expect(await problemsAt(kB / 1.02)).toEqual([]);
      expect(await problemsAt(kB / 1.04)).toEqual([
        expect.stringMatching(
          /^@svc\/a has grown from [\d.]+ to [\d.]+ kB\. If that is meant, run `node .* --write`\.$/,
        ),
      ]);
    });

    test('fail when one has no accepted size', async () => {
      expect(await problemsAt(undefined)).toEqual([expect.stringMatching(/^@svc\/a has no accepted size\. /)]);
    });

    test('fail when one is larger than users are promised, however little it has grown', async () => {
      expect(await problemsAt(1000, 1)).toEqual([
        expect.stringMatching(/^@svc\/a has [\d.]+ kB, more than the 1 kB that users are promised$/),
      ]);
    });
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

describe('an import that fails says why', () => {
  test.each([
    ['an error', 'throw new Error("no such table");', 60_000, /no such table/],
    ['a signal', "process.kill(process.pid, 'SIGKILL');", 60_000, /^SIGKILL ended the process\.$/],
    ['a timer that it leaves', 'setInterval(() => {}, 1000);', 500, /^the process was still running after 500 ms$/],
  ])('%s', (_, program, deadlineMs, failure) => {
    const root = built({ 'dist/index.js': program });
    expect(importTime(root, ENTRY, deadlineMs).failure).toMatch(failure);
  });
});
