import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { MANUAL, MANUAL_SOURCES } from '../write-manual.mjs';
import { PACKAGE_DOCS, PACKAGE_DOCS_SOURCES } from '../write-package-docs.mjs';
import { exampleFiles, TEMPLATES } from '../write-templates.mjs';
import { run } from './children.mjs';
import { fingerprint, readStamp, removeStamp, writeStamp } from './stamp.mjs';
import { exampleFolders, packageFolders, workspaceManifests } from './workspaces.mjs';

const STAMPS = 'node_modules/.cache/svc';
const TSC = 'node_modules/typescript/bin/tsc';
const TSUP = 'node_modules/tsup/dist/cli-default.js';
const CONSOLE = 'packages/console';
const AT_ONCE = 2;

/**
 * Builds the outdated parts: the JavaScript of each package, and of the examples that are bundled, with tsup; all
 * declarations, and the other examples, with tsc.
 *
 * @param {string} node the Node to build with
 * @throws {Error} with the compilers' messages; a failed part has no stamp, so the next build repeats it
 */
export async function build(node) {
  // The bundle of the reference host contains the page, so the page is there before all others begin.
  const [page] = [pageOfConsole()].filter(isStale);
  const failure = page && (await make(node, page));
  if (failure !== undefined) throw new Error(failure);
  const stale = [
    declarationsAndExamples(),
    ...packageFolders().map(javaScriptOf),
    ...bundledExamples().map(bundleOf),
    templates(),
    manual(),
    packageDocs(),
  ].filter(isStale);
  if (stale.length === 0) return;
  console.log(`Building ${stale.map(({ name }) => name).join(', ')} …`);
  const failures = [];
  const lane = async () => {
    for (let part = stale.shift(); part !== undefined; part = stale.shift()) {
      const failure = await make(node, part);
      if (failure !== undefined) failures.push(failure);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  if (failures.length > 0) throw new Error(failures.join('\n'));
}

/**
 * Lists the parts of a package's build that are missing, or older than their sources.
 *
 * @param {string} folder of the package
 * @returns {string[]} their names
 */
export function outdatedParts(folder) {
  const hasTemplates = TEMPLATES.some((kind) => dirname(kind.templates) === folder);
  const parts = [
    javaScriptOf(folder),
    declarationsAndExamples(),
    ...(folder === CONSOLE ? [pageOfConsole()] : []),
    ...(hasTemplates ? [templates()] : []),
    ...(dirname(MANUAL) === folder ? [manual()] : []),
    ...(PACKAGE_DOCS.includes(`${folder}/docs`) ? [packageDocs()] : []),
  ];
  return parts.filter(isStale).map(({ name }) => name);
}

async function make(node, part) {
  removeStamp(part.stamp);
  const { code, output } = await run(node, part.command, { cwd: part.cwd });
  if (code !== 0) return `The build of ${part.name} failed:\n${output}`;
  part.afterwards?.();
  writeStamp(part.stamp, part.wanted);
  return undefined;
}

function isStale({ stamp, wanted, outputs }) {
  return readStamp(stamp) !== wanted || !outputs.every(existsSync);
}

function javaScriptOf(folder) {
  return {
    name: folder,
    command: [resolve(TSUP)],
    cwd: folder,
    stamp: join(STAMPS, `build-${folder.replace(/[\\/]/g, '-')}`),
    wanted: fingerprint([
      ...['src', 'package.json', 'tsup.config.ts'].map((name) => join(folder, name)),
      ...['tsup.base.ts', 'tsconfig.base.json', 'package-lock.json'],
    ]),
    outputs: publishedFiles(folder, '.js'),
  };
}

/** An example that is one bundle with all its dependencies. */
function bundleOf(folder) {
  return {
    name: folder,
    command: [resolve(TSUP)],
    cwd: folder,
    stamp: join(STAMPS, `build-${folder.replace(/[\\/]/g, '-')}`),
    wanted: fingerprint([
      ...[folder, ...packageFolders()].flatMap((part) => ['src', 'package.json'].map((name) => join(part, name))),
      // The bundle contains the page, which is no module of `src`.
      ...[join(folder, 'tsup.config.ts'), join(CONSOLE, 'page'), 'package-lock.json'],
    ]),
    outputs: [join(folder, 'dist/main.js')],
  };
}

function bundledExamples() {
  return exampleFolders().filter((folder) => existsSync(join(folder, 'tsup.config.ts')));
}

function declarationsAndExamples() {
  const folders = [...packageFolders(), ...exampleFolders()];
  const bundled = bundledExamples();
  const outputs = [
    ...packageFolders().flatMap((folder) => publishedFiles(folder, '.d.ts')),
    ...exampleFolders()
      .filter((folder) => !bundled.includes(folder))
      .map((folder) => join(folder, 'dist/main.js')),
  ];
  return {
    name: 'declarations and examples',
    // The incremental state of tsc does not notice a deleted output.
    command: [resolve(TSC), '-b', ...(outputs.every(existsSync) ? [] : ['--force'])],
    cwd: '.',
    stamp: join(STAMPS, 'build-tsc'),
    wanted: fingerprint([
      ...folders.flatMap((folder) => ['src', 'tsconfig.json', 'tsconfig.node.json'].map((name) => join(folder, name))),
      ...workspaceManifests(),
      ...['tsconfig.json', 'tsconfig.base.json', 'package-lock.json'],
    ]),
    outputs,
    afterwards: removeOrphans,
  };
}

/** The page of the console, which is a module of compressed files. */
function pageOfConsole() {
  const sources = ['page', 'package.json'].map((name) => join(CONSOLE, name));
  return {
    name: 'the page of the console',
    command: [resolve(CONSOLE, 'page/build.mjs')],
    cwd: '.',
    stamp: join(STAMPS, 'build-page'),
    wanted: fingerprint([...sources, 'package-lock.json']),
    outputs: [join(CONSOLE, 'built/page.js')],
  };
}

/** The examples that packages create projects from. */
function templates() {
  return {
    name: 'templates',
    command: [resolve('tools/write-templates.mjs')],
    cwd: '.',
    stamp: join(STAMPS, 'build-templates'),
    wanted: fingerprint([...exampleFiles('.'), 'tools/write-templates.mjs']),
    outputs: TEMPLATES.map((kind) => kind.templates),
  };
}

/** The pages and lists that the conformance suite brings along. */
function manual() {
  return {
    name: 'the manual of the conformance suite',
    command: [resolve('tools/write-manual.mjs')],
    cwd: '.',
    stamp: join(STAMPS, 'build-manual'),
    wanted: fingerprint([...MANUAL_SOURCES, 'tools/write-manual.mjs', 'package.json']),
    outputs: [MANUAL],
  };
}

/** The guides that packages bring along. */
function packageDocs() {
  return {
    name: 'the guides of the packages',
    command: [resolve('tools/write-package-docs.mjs')],
    cwd: '.',
    stamp: join(STAMPS, 'build-package-docs'),
    wanted: fingerprint([
      ...PACKAGE_DOCS_SOURCES,
      ...['tools/write-package-docs.mjs', 'tools/with-links.mjs', 'package.json'],
    ]),
    outputs: PACKAGE_DOCS,
  };
}

/** Returns the files of dist that a package's `exports` and `bin` name. */
function publishedFiles(folder, ending) {
  const { exports, bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const paths = JSON.stringify([exports, bin]).match(/(?<=")(?:\.\/)?dist\/[^"]+/g) ?? [];
  return paths.filter((path) => path.endsWith(ending)).map((path) => join(folder, path));
}

/** Removes declarations whose source is gone: tsc leaves them, and everything in dist is published. */
function removeOrphans() {
  for (const folder of packageFolders()) {
    for (const path of filesBelow(join(folder, 'dist'))) {
      const source = path.replace(/\.d\.ts(\.map)?$/, '.ts').replace(join(folder, 'dist'), join(folder, 'src'));
      if (source.endsWith('.ts') && !existsSync(source)) rmSync(path);
    }
  }
}

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}
