import { builtinModules, createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';

// esbuild is a dependency of tsup.
const { build } = createRequire(createRequire(import.meta.url).resolve('tsup'))('esbuild');

/** Node's modules with and without `node:`, because a build may drop the prefix. */
const BUILTINS = new Set([...builtinModules, ...builtinModules.map((name) => `node:${name}`)]);

/** The conditions with which bundlers for browsers and for Node resolve `exports` and `imports`. */
const SETTINGS = {
  neutral: {
    platform: 'neutral',
    conditions: ['browser', 'module', 'import'],
    mainFields: ['browser', 'module', 'main'],
  },
  node: { platform: 'node', conditions: ['module', 'import'] },
};

/**
 * Bundles an entry with everything that it imports.
 *
 * @param {string} root a built checkout
 * @param {{ name: string, runtime: 'neutral' | 'node', without?: readonly string[] }} entry
 * @returns {Promise<{ kB: number, builtins: { name: string, by: string }[] }>} `kB`: minified and gzipped, in
 *   thousands of bytes; `builtins`: Node's modules that are imported, and by which files
 * @throws {Error} when an import cannot be resolved
 */
export async function bundle(root, { name, runtime, without = [] }) {
  const { outputFiles, metafile } = await build({
    ...SETTINGS[runtime],
    // All names, so that tree shaking removes nothing.
    stdin: { contents: `export * from ${JSON.stringify(name)};`, resolveDir: root },
    absWorkingDir: root,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    metafile: true,
    logLevel: 'silent',
    external: [...BUILTINS, 'node:*', ...without],
  });
  return { kB: sizeOf(outputFiles), builtins: builtinsOf(metafile) };
}

function sizeOf([file]) {
  return Math.round(gzipSync(file.contents, { level: 9 }).length / 10) / 100;
}

function builtinsOf({ inputs }) {
  return Object.entries(inputs).flatMap(([by, { imports }]) =>
    imports
      .filter(({ path }) => BUILTINS.has(path) || path.startsWith('node:'))
      .map(({ path: name }) => ({ name, by })),
  );
}
