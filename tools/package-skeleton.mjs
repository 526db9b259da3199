import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const FILES = ['README.md', 'CHANGELOG.md', 'LICENSE', 'tsconfig.json', 'tsup.config.ts'];
/** Each holds something, since an empty folder does not outlive a clone. */
const FOLDERS = ['src', 'test'];

/** What package.json says in every package; a function judges what differs from one to the next. */
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
  publishConfig: (value) => value?.access === 'public' && value?.provenance === true,
};

/** The order matters: the first condition that a reader knows is taken. Node may have a build of its own. */
const CONDITIONS = ['@svc/source', 'types', 'node', 'default'];

/**
 * Whether a package is built like its neighbours.
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
    ...FOLDERS.filter((name) => !isFilledFolder(at(name))).map((name) => `has no ${name}/ with anything in it`),
    ...Object.entries(FIELDS)
      .filter(([field, isRight]) => !isRight(manifest[field]))
      .map(([field]) => `has a package.json whose ${field} is missing or is not as in the other packages`),
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
    .filter(([subpath]) => subpath !== './package.json')
    .filter(
      ([, conditions]) =>
        Object.keys(conditions).join() !== CONDITIONS.filter((name) => name !== 'node' || name in conditions).join(),
    )
    .map(([subpath]) => `exports ${subpath} under other conditions than ${CONDITIONS.join(', ')}`);
}

/** Ordinary dependencies on the version that is here: a sibling as a peer would make each of its minors our major. */
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
      .filter(([name, range]) => versions.has(name) && range !== `^${versions.get(name)}`)
      .map(([name, range]) => `asks for ${name} ${range}, and here it is ${versions.get(name)}`),
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
