import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { siblingRange } from './release/release.mjs';

const FILES = ['README.md', 'CHANGELOG.md', 'LICENSE', 'tsconfig.json', 'tsup.config.ts'];
/** Each must contain a file, because Git does not store an empty folder. */
const FOLDERS = ['src', 'test'];

/** The checks of the fields that every package.json must have. */
const FIELDS = {
  name: (value) => typeof value === 'string' && value.startsWith('@svc/'),
  version: isFilled,
  description: isFilled,
  license: (value) => value === 'Apache-2.0',
  type: (value) => value === 'module',
  sideEffects: (value) => value === false,
  engines: (value) => isFilled(value?.node),
  files: (value) =>
    Array.isArray(value) && ['dist', 'src', '!src/**/*.test.ts'].every((pattern) => value.includes(pattern)),
  exports: (value) => value?.['./package.json'] === './package.json',
  // npm warns of `./`, and says that it removes the command.
  bin: (value) => value === undefined || Object.values(value).every((path) => !path.startsWith('./')),
  keywords: (value) => Array.isArray(value) && value.length > 0,
  // The release asks for the provenance. A package that always asks cannot be published to a registry for tests.
  publishConfig: (value) => value?.access === 'public' && value?.provenance === undefined,
};

/** In this order, because a resolver takes the first condition that it knows: Workers and Bun know `node`, too. */
const CONDITIONS = ['@svc/source', 'types', 'workerd', 'bun', 'node', 'default'];
/** Those of a build for one runtime, which a package may lack. */
const RUNTIMES = ['workerd', 'bun', 'node'];

/**
 * Checks that a package has the files, folders and manifest fields that every package has.
 *
 * @param {string} root a checkout
 * @param {string} folder of the package, relative to the root
 * @returns {string[]} one sentence for each difference
 */
export function skeletonProblems(root, folder) {
  const at = (name) => join(root, folder, name);
  const manifest = readManifest(at('package.json'));
  const problems = [
    ...FILES.filter((name) => !existsSync(at(name))).map((name) => `has no ${name}`),
    ...FOLDERS.filter((name) => !isFilledFolder(at(name))).map((name) => `has no ${name}/ with a file`),
    ...Object.entries(FIELDS)
      .filter(([field, isRight]) => !isRight(manifest[field]))
      .map(([field]) => `has a package.json whose ${field} is missing or differs from the other packages`),
    ...conditionProblems(manifest.exports ?? {}),
    ...siblingProblems(root, manifest),
  ];
  const licence = readText(at('LICENSE'));
  if (licence !== undefined && licence !== readText(join(root, 'LICENSE')))
    problems.push("has a LICENSE that is not the project's");
  return problems.map((problem) => `${folder} ${problem}`);
}

function conditionProblems(exports) {
  return Object.entries(exports)
    .filter(([subpath, target]) => !subpath.endsWith('.json') || target !== subpath)
    .filter(
      ([, conditions]) =>
        Object.keys(conditions).join() !==
        CONDITIONS.filter((name) => !RUNTIMES.includes(name) || name in conditions).join(),
    )
    .map(([subpath]) => `exports ${subpath} under other conditions than ${CONDITIONS.join(', ')}`);
}

/** A sibling must be a dependency on its current version: as a peer, each of its minors would be a major of ours. */
function siblingProblems(root, { dependencies = {}, peerDependencies = {} }) {
  const versions = new Map(
    readdirSync(join(root, 'packages')).map((name) => {
      const sibling = readManifest(join(root, 'packages', name, 'package.json'));
      return [sibling.name, sibling.version];
    }),
  );
  return [
    ...Object.keys(peerDependencies)
      .filter((name) => versions.has(name))
      .map((name) => `has ${name} as a peer; it belongs in dependencies`),
    ...Object.entries(dependencies)
      .filter(([name, range]) => versions.has(name) && range !== siblingRange(versions.get(name)))
      .map(([name, range]) => `depends on ${name} ${range}, but its version is ${versions.get(name)}`),
  ];
}

function isFilled(value) {
  return typeof value === 'string' && value !== '';
}

function isFilledFolder(path) {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true && readdirSync(path).length > 0;
}

function readManifest(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function readText(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
