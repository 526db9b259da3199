/**
 * Builds the pages: `node packages/console/page/build.mjs` bundles the scripts and styles of the console and of the portal,
 * compresses every file, and writes them as the modules `built/page.js` and `built/portal.js`. `--sizes` prints the sizes
 * instead.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const HERE = import.meta.dirname;
const BUILT = join(HERE, '../built');
const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };

const pages = {
  page: await builtPage({ script: 'main.tsx', style: 'style.css', html: 'index.html', name: 'console' }),
  portal: await builtPage({ script: 'portal.tsx', style: 'portal.css', html: 'portal.html', name: 'portal' }),
};
if (argv.includes('--sizes')) {
  for (const [name, { files }] of Object.entries(pages))
    for (const { path, content, br, gzip } of files)
      console.log(
        `${`${name}: ${path || 'the page'}`.padEnd(36)} ${content.length} B, gzip ${gzip.length} B, Brotli ${br.length} B`,
      );
} else {
  mkdirSync(BUILT, { recursive: true });
  for (const [name, { files }] of Object.entries(pages)) writeFileSync(join(BUILT, `${name}.js`), moduleOf(files));
  // The check of the licences reads it.
  const packages = [...new Set(Object.values(pages).flatMap((page) => page.packages))].sort();
  writeFileSync(join(BUILT, 'packages.json'), `${JSON.stringify(packages, undefined, 2)}\n`);
}

/**
 * @returns {Promise<{ files: { path: string, type: string, digest: string, content: Buffer, br: Buffer, gzip: Buffer }[], packages: string[] }>}
 * `packages` names the packages of others that the script contains
 */
async function builtPage({ script: entry, style: sheet, html: template, name }) {
  const bundled = await build({
    absWorkingDir: HERE,
    entryPoints: { [name]: entry, style: sheet },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    outdir: '.',
    format: 'esm',
    // The code that only some screens need is a part of its own, which the first visit does not load.
    splitting: true,
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    target: ['es2023', 'chrome123', 'firefox120', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const outputs = bundled.outputFiles.map(({ path, contents }) => ({ path: path.split(/[\\/]/).at(-1), contents }));
  const [script, first] = entryIn(bundled.metafile, entry);
  const [style] = entryIn(bundled.metafile, sheet);
  const iconFile = readFileSync(join(HERE, 'icon.svg'));
  const icon = `icon-${digestOf(iconFile)}.svg`;
  const html = readFileSync(join(HERE, template), 'utf8')
    .replace('{{script}}', script)
    .replace('{{style}}', style)
    .replace('{{icon}}', icon)
    // A browser would ask for these only when it has read the script.
    .replace('{{parts}}', first.map((path) => `<link rel="modulepreload" href="${path}" />`).join(''));
  const files = [
    fileOf('', 'text/html; charset=utf-8', Buffer.from(html)),
    ...outputs.map(({ path, contents }) => fileOf(path, TYPES[path.split('.').at(-1)], contents)),
    fileOf(icon, 'image/svg+xml', iconFile),
  ];
  const foreign = Object.keys(bundled.metafile.inputs).flatMap(
    (input) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? [],
  );
  return { files, packages: [...new Set(foreign)].sort() };
}

/** Finds the file of an entry, and the files that it needs at once. */
function entryIn({ outputs }, entryPoint) {
  const [path, { imports }] = Object.entries(outputs).find(([, output]) => output.entryPoint === entryPoint);
  return [path, imports.filter(({ kind }) => kind === 'import-statement').map((needed) => needed.path)];
}

function fileOf(path, type, bytes) {
  const content = Buffer.from(bytes);
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  const br = brotliCompressSync(content, { params });
  return { path, type, digest: digestOf(content), content, br, gzip: gzipSync(content, { level: 9 }) };
}

function digestOf(content) {
  return createHash('sha256').update(content).digest('base64url').slice(0, 16);
}

function moduleOf(all) {
  const entries = all.map(({ path, type, digest, br, gzip }) => ({
    ...{ path, type, digest },
    ...{ br: br.toString('base64'), gzip: gzip.toString('base64') },
  }));
  return `// Written by page/build.mjs.\nexport const PAGE_FILES = ${JSON.stringify(entries, undefined, 2)};\n`;
}
