import { describe, expect, test } from 'vitest';
import { temporaryTree } from './temporary-tree.ts';

interface Skeleton {
  skeletonProblems(root: string, folder: string): string[];
}
interface Tarball {
  tarballProblems(files: readonly string[], manifest: object): string[];
  mapProblems(files: readonly string[], read: (path: string) => string): string[];
}

interface Consumer {
  importProblems(folder: string, entries: readonly { name: string }[], limitMs?: number): Promise<string[]>;
}

const { importProblems }: Consumer = await import(new URL('./package-consumer.mjs', import.meta.url).href);
const { skeletonProblems }: Skeleton = await import(new URL('./package-skeleton.mjs', import.meta.url).href);
const { mapProblems, tarballProblems }: Tarball = await import(new URL('./package-tarball.mjs', import.meta.url).href);

const MANIFEST = {
  name: '@svc/a',
  version: '1.2.0',
  description: 'Does one thing',
  license: 'Apache-2.0',
  type: 'module',
  sideEffects: false,
  engines: { node: '>=22.19' },
  files: ['dist', 'src', '!src/**/*.test.ts'],
  exports: {
    '.': { '@svc/source': './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' },
    './package.json': './package.json',
  },
  dependencies: { '@svc/b': '^2.0.0' },
  keywords: ['one'],
  bin: { a: 'dist/cli/main.js' },
  publishConfig: { access: 'public' },
};

const TREE = {
  LICENSE: 'the licence',
  'packages/a/package.json': MANIFEST,
  'packages/a/LICENSE': 'the licence',
  'packages/a/README.md': '',
  'packages/a/CHANGELOG.md': '',
  'packages/a/tsconfig.json': '',
  'packages/a/tsup.config.ts': '',
  'packages/a/src/index.ts': '',
  'packages/a/test/a.test.ts': '',
  'packages/b/package.json': { name: '@svc/b', version: '2.0.0' },
};

describe('the skeleton of a package', () => {
  const problemsOf = (tree: Record<string, unknown>) => skeletonProblems(temporaryTree(tree), 'packages/a');

  test('passes when it is complete', () => {
    expect(problemsOf(TREE)).toEqual([]);
  });

  test.each(Object.keys(TREE).filter((path) => /^packages\/a\/(?!package.json)/.test(path)))('needs %s', (path) => {
    const without = Object.fromEntries(Object.entries(TREE).filter(([name]) => name !== path));
    expect(problemsOf(without)).toEqual([expect.stringContaining(`has no ${path.split('/')[2]}`)]);
  });

  const { '.': root } = MANIFEST.exports;
  test.each([
    ['description', { description: undefined }],
    ['license', { license: 'MIT' }],
    ['type', { type: 'commonjs' }],
    ['sideEffects', { sideEffects: true }],
    ['engines', { engines: {} }],
    ['files', { files: ['dist', 'src'] }],
    ['exports', { exports: { '.': root } }],
    ['publishConfig', { publishConfig: { access: 'restricted' } }],
    ['publishConfig', { publishConfig: { access: 'public', provenance: true } }],
    ['keywords', { keywords: [] }],
    ['bin', { bin: { a: './dist/cli/main.js' } }],
    [
      'under other conditions',
      { exports: { ...MANIFEST.exports, './b': { default: './dist/b.js', types: './dist/b.d.ts' } } },
    ],
    ['@svc/b ^1.0.0', { dependencies: { '@svc/b': '^1.0.0' } }],
    ['@svc/b ^2.0.0', { dependencies: { '@svc/b': '^2.0.0' } }, '2.0.0-rc.1'],
    ['as a peer', { dependencies: {}, peerDependencies: { '@svc/b': '^2.0.0' } }],
  ])('names a wrong package.json: %s', (problem, change, siblingVersion = '2.0.0') => {
    const sibling = { name: '@svc/b', version: siblingVersion };
    const changed = {
      ...TREE,
      'packages/a/package.json': { ...MANIFEST, ...change },
      'packages/b/package.json': sibling,
    };
    expect(problemsOf(changed)).toEqual([expect.stringContaining(problem)]);
  });

  test('pins a sibling that is a release candidate', () => {
    const manifest = { ...MANIFEST, dependencies: { '@svc/b': '2.0.0-rc.1' } };
    const sibling = { name: '@svc/b', version: '2.0.0-rc.1' };
    const tree = { ...TREE, 'packages/a/package.json': manifest, 'packages/b/package.json': sibling };
    expect(problemsOf(tree)).toEqual([]);
  });

  test("has the project's licence", () => {
    expect(problemsOf({ ...TREE, 'packages/a/LICENSE': 'another' })).toEqual([expect.stringContaining('LICENSE')]);
  });
});

describe('a tarball', () => {
  const FILES = ['package.json', 'README.md', 'LICENSE', 'src/index.ts', 'dist/index.js', 'dist/index.d.ts'];

  test('passes when it has every file that its package.json names', () => {
    expect(tarballProblems(FILES, MANIFEST)).toEqual([]);
  });

  test.each(['README.md', 'LICENSE', 'dist/index.js', 'dist/index.d.ts', 'src/index.ts'])('needs %s', (path) => {
    const files = FILES.filter((name) => name !== path);
    expect(tarballProblems(files, MANIFEST)).toContainEqual(expect.stringContaining(`does not hold ${path}`));
  });

  test('needs a file of every folder that its package.json lists', () => {
    const manifest = { ...MANIFEST, files: [...MANIFEST.files, 'templates'] };
    expect(tarballProblems([...FILES, 'templates/express/test/app.test.ts'], manifest)).toEqual([]);
    expect(tarballProblems(FILES, manifest)).toEqual([expect.stringContaining('holds nothing of templates/')]);
  });

  test.each(['src/a.test.ts', 'test/a.ts', 'dist/.tsbuildinfo', 'dist/.tsbuildinfo-node', 'dist/a.ts'])(
    'does not hold %s',
    (path) => {
      expect(tarballProblems([...FILES, path], MANIFEST)).toEqual([`the tarball of @svc/a holds ${path}`]);
    },
  );

  test.each([
    ['passes', { sources: ['../src/index.ts'] }, []],
    [
      'that repeats its sources is named',
      { sources: ['../src/index.ts'], sourcesContent: ['1'] },
      ['repeats the text of its sources'],
    ],
    ['without its source is named', { sources: ['../src/gone.ts'] }, ['names ../src/gone.ts']],
  ])('with a source map %s', (_, map, problems) => {
    const found = mapProblems([...FILES, 'dist/index.js.map'], () => JSON.stringify(map));
    expect(found).toEqual(problems.map((problem) => expect.stringContaining(`dist/index.js.map ${problem}`)));
  });

  test('must not have a declaration whose source is gone', () => {
    expect(tarballProblems([...FILES, 'dist/old.d.ts'], MANIFEST)).toEqual([
      expect.stringContaining('dist/old.d.ts, whose source is gone'),
    ]);
  });
});

describe('the import of an entry from its tarball', () => {
  const entry = (name: string, program: string) => ({
    [`node_modules/${name}/package.json`]: { name, type: 'module', exports: './index.js' },
    [`node_modules/${name}/index.js`]: program,
  });
  const problemsOf = (tree: Record<string, unknown>, names: readonly string[], limitMs?: number) =>
    importProblems(
      temporaryTree(tree),
      names.map((name) => ({ name })),
      limitMs,
    );

  test('passes for each of more entries than the machine has processors', async () => {
    const names = Array.from({ length: 9 }, (_, index) => `entry-${index}`);
    expect(await problemsOf(Object.assign({}, ...names.map((name) => entry(name, ''))), names)).toEqual([]);
  });

  test('names the error', async () => {
    const tree = { ...entry('sound', ''), ...entry('broken', 'throw new Error("no such table");') };
    const [problem, ...others] = await problemsOf(tree, ['sound', 'broken']);
    expect([problem, others]).toEqual([
      expect.stringMatching(/^broken does not import from its tarball: .*no such table/s),
      [],
    ]);
  });

  test('names the signal of a process that was killed', async () => {
    const tree = entry('killed', "process.kill(process.pid, 'SIGKILL');");
    expect(await problemsOf(tree, ['killed'])).toEqual([
      'killed does not import from its tarball: SIGKILL ended the process. Its limit is 60000 ms.',
    ]);
  });

  test('names the limit of a process that does not end', async () => {
    expect(await problemsOf(entry('busy', 'setInterval(() => {}, 1000);'), ['busy'], 500)).toEqual([
      'busy does not import from its tarball: SIGTERM ended the process. Its limit is 500 ms.',
    ]);
  });
});
