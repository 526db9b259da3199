/**
 * Checks the licences of everything that the packages ship or bring along: `node tools/check-licences.mjs`, after a
 * build. `--list` prints each dependency with its licence.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { productionDependencies } from './release/sbom.mjs';
import { publishedPackages } from './release/workspaces.mjs';

/** Licences that oblige a user of a dependency to nothing but keeping its notice, which npm installs with it. */
const ALLOWED = [
  '(MIT OR CC0-1.0)',
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
];

/**
 * @param {string} root a checkout that is built
 * @returns {string[]} one sentence for each problem
 */
export function checkLicences(root) {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return publishedPackages(root).flatMap(({ folder }) => [
    ...productionDependencies(lock, folder)
      .filter(({ entry }) => !ALLOWED.includes(entry.license))
      .map(({ entry }) => `${folder}: depends on ${entry.name}, whose licence is ${entry.license ?? 'unknown'}.`),
    ...bundledIn(root, folder).map(
      ([file, source]) =>
        `${folder}/${file}: contains ${source}. Make it a dependency, so that its licence comes along.`,
    ),
    ...pageProblems(root, lock, folder),
  ]);
}

/** A page for browsers contains its packages, so their licences must allow it, and be in the package. */
function pageProblems(root, lock, folder) {
  const list = join(root, folder, 'built/packages.json');
  if (!existsSync(list)) return [];
  const notices = readFileSync(join(root, folder, 'NOTICES.md'), 'utf8');
  return JSON.parse(readFileSync(list, 'utf8')).flatMap((name) => {
    const { license } = lock.packages[`node_modules/${name}`];
    return [
      ...(ALLOWED.includes(license) ? [] : [`${folder}: its page contains ${name}, whose licence is ${license}.`]),
      ...(notices.includes(`## ${name}\n`) ? [] : [`${folder}/NOTICES.md: has no licence of ${name}.`]),
    ];
  });
}

/** Finds the code of others that the build put into a package, by the source maps. */
function bundledIn(root, folder) {
  const maps = globSync('dist/**/*.js.map', { cwd: join(root, folder) });
  return maps.flatMap((map) => {
    const { sources } = JSON.parse(readFileSync(join(root, folder, map), 'utf8'));
    const foreign = sources.filter((source) => source.includes('node_modules/'));
    return foreign.map((source) => [map.replace(/\.map$/, ''), source.replace(/^.*node_modules\//, '')]);
  });
}

function main() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  if (argv.includes('--list')) list(root);
  const problems = checkLicences(root);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) exit(1);
  console.log('Every shipped licence is allowed, and no package contains the code of another.');
}

function list(root) {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  for (const { folder } of publishedPackages(root)) {
    const lines = productionDependencies(lock, folder).map(
      ({ entry }) => `  ${entry.name} ${entry.version} ${entry.license}`,
    );
    console.log([`${folder}${existsSync(join(root, folder, 'LICENSE')) ? '' : ' (no LICENSE)'}`, ...lines].join('\n'));
  }
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) main();
