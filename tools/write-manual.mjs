/**
 * Writes the manual of the conformance suite into its package, so that it is in the tarball: `node tools/write-manual.mjs`, a part
 * of the build. The sources are the pages of `docs/`, the list of requirements, and the fixtures of the suite.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The folder of the manual, which git ignores. */
export const MANUAL = 'packages/conformance/manual';

const PAGES = {
  'checks.md': 'docs/conformance.md',
  'make-your-host-conform.md': 'docs/guides/make-your-host-conform.md',
};
const REQUIREMENTS = 'docs/requirements.json';
const FIXTURES = 'packages/conformance/src/fixtures.ts';

/** Files that the manual is made from. */
export const MANUAL_SOURCES = [...Object.values(PAGES), REQUIREMENTS, FIXTURES];

/** @param {string} root a checkout */
export async function writeManual(root) {
  const { FIXTURES: fixtures } = await import(pathToFileURL(resolve(root, FIXTURES)).href);
  const { homepage } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const repository = homepage.replace(/#.*$/, '');
  rmSync(join(root, MANUAL), { recursive: true, force: true });
  mkdirSync(join(root, MANUAL), { recursive: true });
  const write = (name, text) => writeFileSync(join(root, MANUAL, name), text);
  for (const [name, path] of Object.entries(PAGES)) {
    write(name, manualPage(readFileSync(join(root, path), 'utf8'), path, repository));
  }
  write('requirements.json', readFileSync(join(root, REQUIREMENTS), 'utf8'));
  write('fixtures.json', `${JSON.stringify(fixtures, undefined, 2)}\n`);
}

/**
 * Makes a page of the manual: comments that configure the checks of this repository go, and links to other files lead to the
 * repository.
 *
 * @param {string} text of the page
 * @param {string} path of the page in the checkout
 * @param {string} repository the URL of the repository
 */
export function manualPage(text, path, repository) {
  const folder = posix.dirname(path.split('\\').join('/'));
  return text
    .replace(/^<!--[\s\S]*?-->\n\n?/gm, '')
    .replace(
      /\]\((?!https?:|#)([^)\s]+)\)/g,
      (_link, target) => `](${repository}/tree/main/${posix.join(folder, target)})`,
    );
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) {
  await writeManual(dirname(dirname(fileURLToPath(import.meta.url))));
}
