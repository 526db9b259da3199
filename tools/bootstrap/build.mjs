import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { exampleFiles, TEMPLATES } from '../write-templates.mjs';
import { run } from './children.mjs';
import { fingerprint, readStamp, removeStamp, writeStamp } from './stamp.mjs';
import { exampleFolders, packageFolders, workspaceManifests } from './workspaces.mjs';

const STAMPS = 'node_modules/.cache/svc';
const TSC = 'node_modules/typescript/bin/tsc';
const TSUP = 'node_modules/tsup/dist/cli-default.js';
const AT_ONCE = 2;

/**
 * Builds the outdated parts: the JavaScript of each package with tsup; all declarations, and the examples, with tsc.
 *
 * @param {string} node the Node to build with
 * @throws {Error} with the compilers' messages; a failed part has no stamp, so the next build repeats it
 */
export async function build(node) {
  const stale = [declarationsAndExamples(), ...packageFolders().map(javaScriptOf), templates()].filter(isStale);
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
  const parts = [javaScriptOf(folder), declarationsAndExamples(), ...(hasTemplates ? [templates()] : [])];
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

function declarationsAndExamples() {
  const folders = [...packageFolders(), ...exampleFolders()];
  const outputs = [
    ...packageFolders().flatMap((folder) => publishedFiles(folder, '.d.ts')),
    ...exampleFolders().map((folder) => join(folder, 'dist/main.js')),
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
