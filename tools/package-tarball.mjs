import { join, posix } from 'node:path';
import { run, withoutInstalledPrograms } from './bootstrap/children.mjs';

/**
 * Packs a package as it would be published.
 *
 * @param {string} root a built checkout
 * @param {string} folder of the package
 * @param {string} into the folder for the tarball
 * @returns {Promise<{ path: string, files: string[] }>} the tarball and the paths in it
 */
export async function pack(root, folder, into) {
  const args = ['pack', '--json', '--loglevel=error', '--pack-destination', into];
  const options = {
    cwd: join(root, folder),
    env: withoutInstalledPrograms(process.env),
    shell: process.platform === 'win32',
  };
  const { code, output } = await run('npm', args, options);
  if (code !== 0) throw new Error(`npm pack failed in ${folder}:\n${output}`);
  // The list follows the output of the package's own scripts.
  const [{ filename, files }] = JSON.parse(output.slice(output.indexOf('[\n')));
  return { path: join(into, filename), files: files.map(({ path }) => path) };
}

const NEEDED = ['package.json', 'README.md', 'LICENSE'];
/** The tests of a template are those of the project that is made from it. */
const FORBIDDEN = [/^(?!templates\/).*\.test\./, /^test\//, /\.tsbuildinfo/, /(^|\/)\.env/, /^dist\/.*(?<!\.d)\.ts$/];

/**
 * Checks that a tarball has every needed file and no other.
 *
 * @param {readonly string[]} files the paths in it
 * @param {object} manifest its package.json
 * @returns {string[]} one sentence for each problem
 */
export function tarballProblems(files, manifest) {
  const present = new Set(files);
  const named = (JSON.stringify([manifest.exports, manifest.imports]).match(/"\.\/[^"]+\.(?:ts|js)"/g) ?? []).map(
    (path) => path.slice(3, -1),
  );
  const orphans = files.filter(
    (path) => path.startsWith('dist/') && path.endsWith('.d.ts') && !present.has(sourceOf(path)),
  );
  return [
    ...NEEDED.filter((path) => !present.has(path)).map((path) => `does not hold ${path}`),
    ...(manifest.files ?? [])
      .filter((entry) => /^[\w-]+$/.test(entry) && !files.some((path) => path.startsWith(`${entry}/`)))
      .map((entry) => `holds nothing of ${entry}/, which its package.json lists`),
    ...new Set(
      named.filter((path) => !present.has(path)).map((path) => `does not hold ${path}, which its package.json names`),
    ),
    ...files.filter((path) => FORBIDDEN.some((pattern) => pattern.test(path))).map((path) => `holds ${path}`),
    ...orphans.map((path) => `holds ${path}, whose source is gone`),
  ].map((problem) => `the tarball of ${manifest.name} ${problem}`);
}

/**
 * Checks the source maps of a tarball. Every source stands once in it: as a file, so that an editor goes to the
 * definition and a debugger shows the line, and not in the maps too, which would double the size.
 *
 * @param {readonly string[]} files the paths in it
 * @param {(path: string) => string} read returns the text of a file
 * @returns {string[]} one sentence for each problem
 */
export function mapProblems(files, read) {
  const present = new Set(files);
  return files
    .filter((path) => path.endsWith('.map'))
    .flatMap((path) => {
      const { sources, sourceRoot = '', sourcesContent } = JSON.parse(read(path));
      const missing = sources.find((source) => !present.has(posix.join(posix.dirname(path), sourceRoot, source)));
      return [
        ...(sourcesContent === undefined ? [] : [`${path} repeats the text of its sources`]),
        ...(missing === undefined ? [] : [`${path} names ${missing}, which the tarball does not hold`]),
      ];
    });
}

function sourceOf(declaration) {
  return declaration.replace(/^dist\//, 'src/').replace(/\.d\.ts$/, '.ts');
}
