import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Options } from 'tsup';

/**
 * One build for every package: an entry for each source path that the package's own `exports` and `imports` maps name under
 * the `@svc/source` condition, so the maps are the only list of entries. Declarations come from `tsc -b`.
 */
export function packageBuild(directory: string): Options {
  const { exports, imports } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  return defineConfig({
    entry: entriesOf(exports, imports),
    outDir: 'dist',
    format: ['esm'],
    target: 'es2022',
    platform: 'neutral',
    // The default strips `node:`, and `node:sqlite` has no other name.
    removeNodeProtocol: false,
    external: [/^#/, /^node:/],
    dts: false,
    splitting: true,
    sourcemap: true,
    // Everything in dist goes but the declarations of `tsc -b`, which stand in the same folder.
    clean: ['!**/*.d.ts', '!**/*.d.ts.map'],
    silent: true,
  }) as Options;
}

/** `./src/hmac/node.ts` becomes the entry `hmac/node`, so dist mirrors src. */
function entriesOf(...maps: readonly unknown[]): Record<string, string> {
  const sources = maps.flatMap(sourcePaths);
  return Object.fromEntries(sources.map((path) => [path.replace(/^\.\/src\//, '').replace(/\.ts$/, ''), path]));
}

function sourcePaths(map: unknown): string[] {
  if (typeof map === 'string') return map.startsWith('./src/') ? [map] : [];
  if (typeof map !== 'object' || map === null) return [];
  return Object.values(map).flatMap(sourcePaths);
}
