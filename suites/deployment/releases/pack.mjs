// `node suites/deployment/releases/pack.mjs FILE`, in a checkout with its dependencies: packs the reference host of this
// checkout into FILE, for the tests that run two releases side by side. The file has the code of this project alone:
// its dependencies come from the checkout in which it runs.
import { writeFileSync } from 'node:fs';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'esbuild';

const [file] = argv.slice(2);
if (file === undefined) {
  console.error('Usage: node suites/deployment/releases/pack.mjs FILE');
  exit(2);
}
const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL('../../../examples/reference-host/src/main.ts', import.meta.url))],
  bundle: true,
  write: false,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  conditions: ['@svc/source', 'node'],
  minifyWhitespace: true,
  legalComments: 'none',
  plugins: [{ name: 'dependencies-stay-outside', setup: keepOutside }],
});
const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 };
writeFileSync(file, brotliCompressSync(outputFiles[0].contents, { params }));

function keepOutside({ onResolve }) {
  onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
    kind === 'entry-point' || path.startsWith('@svc/') || path.startsWith('#') ? undefined : { path, external: true },
  );
}
