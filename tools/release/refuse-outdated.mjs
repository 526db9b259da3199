/**
 * Fails when the package of the working directory is not built, or was built from older sources: the script `prepack`
 * of every package. npm would otherwise pack and publish a package without its code. Runs on Node 20.
 */

import { relative, sep } from 'node:path';
import { chdir, cwd, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { outdatedParts } from '../bootstrap/build.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = relative(root, cwd()).split(sep).join('/');
chdir(root);
const outdated = outdatedParts(folder);
if (outdated.length > 0) {
  console.error(
    `${folder}: is not built from its current sources (${outdated.join(', ')}). Run \`npm run build\` first.`,
  );
  exit(1);
}
