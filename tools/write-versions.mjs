/**
 * Writes the version of each package that shows it to users into its `src/version.ts` or `src/package-version.ts`:
 * `node tools/write-versions.mjs`, a part of `npm run release:version`, which takes the versions from the changesets.
 * `--check` writes nothing, and fails on an outdated file.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';

/**
 * @param {string} root a checkout
 * @returns {{ path: string, text: string }[]} the outdated files, with their new content
 */
export function versionsBehind(root) {
  const folders = readdirSync(join(root, 'packages'));
  return folders
    .flatMap((folder) => FILES.map((file) => ({ folder, file })))
    .flatMap(({ folder, file }) => {
      const path = join('packages', folder, 'src', file);
      // A package without such a file does not show its version.
      if (!existsSync(join(root, path)) || !isGenerated(join(root, path))) return [];
      const { version } = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'));
      const text = `${HEAD}export const VERSION: string = '${version}';\n`;
      return readFileSync(join(root, path), 'utf8') === text ? [] : [{ path, text }];
    });
}

/** The second name is for a package whose `version.ts` is about other versions. */
const FILES = ['version.ts', 'package-version.ts'];

const HEAD =
  '/** The version that this package is released as. Written by `tools/write-versions.mjs` from its manifest. */\n';

/** Returns false for a file of that name about other versions. */
function isGenerated(path) {
  return readFileSync(path, 'utf8').includes('tools/write-versions.mjs');
}

function main() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const behind = versionsBehind(root);
  if (argv.includes('--check')) {
    for (const { path } of behind) console.error(`${path} is outdated. Run npm run generate.`);
    if (behind.length > 0) exit(1);
    return;
  }
  for (const { path, text } of behind) writeFileSync(join(root, path), text);
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) main();
