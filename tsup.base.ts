import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Options } from 'tsup';

/**
 * The build of every package. The package's own `exports` and `bin` are the only list of entries: `./dist/a/b.js` is built from
 * `src/a/b.ts`. Files in `dist/for-node`, `dist/for-bun` and `dist/for-workerd` are built for that runtime, where the
 * package's own `#…` imports take its condition. All others are built for every runtime. Declarations come from `tsc -b`.
 */
export function packageBuild(directory: string): Options[] {
  const { exports, bin } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const outputs = [...outputPaths(exports), ...outputPaths(bin)].map((path) => path.replace(DIST, ''));
  const forAll = outputs.filter((path) => !RUNTIMES.some(({ folder }) => path.startsWith(folder)));
  return [
    // Everything in dist goes but the declarations of `tsc -b`, which stand in the same folder, and the other builds.
    build('dist', ['default'], forAll, [
      '!**/*.d.ts',
      '!**/*.d.ts.map',
      ...RUNTIMES.map(({ folder }) => `!${folder}**`),
    ]),
    ...RUNTIMES.flatMap(({ folder, condition }) => {
      const paths = outputs.filter((path) => path.startsWith(folder)).map((path) => path.slice(folder.length));
      return paths.length === 0 ? [] : [build(`dist/${folder}`, [condition], paths, true)];
    }),
  ];
}

/** The folders of the builds for one runtime, each with the condition that its own imports take. */
const RUNTIMES = [
  { folder: 'for-node/', condition: 'node' },
  { folder: 'for-bun/', condition: 'bun' },
  { folder: 'for-workerd/', condition: 'workerd' },
] as const;

/** npm wants the paths of `exports` with `./`, and those of `bin` without. */
const DIST = /^(?:\.\/)?dist\//;

function build(outDir: string, conditions: string[], paths: readonly string[], clean: string[] | true): Options {
  return defineConfig({
    entry: Object.fromEntries(paths.map(withoutEnding).map((path) => [path, `src/${path}.ts`])),
    outDir,
    format: ['esm'],
    target: 'es2022',
    platform: 'neutral',
    // The default strips `node:`, and `node:sqlite` has no other name.
    removeNodeProtocol: false,
    external: [/^node:/],
    noExternal: [/^#/],
    esbuildOptions: (options) => {
      options.conditions = conditions;
      // The sources are in the package. A copy in each map would double them.
      options.sourcesContent = false;
    },
    dts: false,
    splitting: true,
    sourcemap: true,
    clean,
    silent: true,
  }) as Options;
}

function withoutEnding(path: string): string {
  return path.replace(/\.js$/, '');
}

/** The JavaScript that a map names, each file once. */
function outputPaths(map: unknown): string[] {
  if (typeof map === 'string') return DIST.test(map) && map.endsWith('.js') ? [map] : [];
  if (typeof map !== 'object' || map === null) return [];
  return [...new Set(Object.values(map).flatMap(outputPaths))];
}
