/**
 * Copies the projects of `examples/hosts` and `examples/receivers` into the packages that create them:
 * `node tools/write-templates.mjs`, a part of the build. A leading dot is written as an underscore, because npm leaves
 * files such as `.gitignore` out of a package.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

/** The examples of each kind of project, and the templates that are made from them. */
export const TEMPLATES = [
  { examples: 'examples/hosts', templates: 'packages/create-host/templates' },
  { examples: 'examples/receivers', templates: 'packages/create-receiver/templates' },
];

/** Made by an installation, a build or a run, and by the user of an example. */
const LEFT_OUT =
  /^(node_modules|dist|\.next|\.wrangler|next-env\.d\.ts|\.env|\.dev\.vars|package-lock\.json|.*\.(db|db-.*|tsbuildinfo))$/;

/**
 * Lists the files of the examples.
 *
 * @param {string} root a checkout
 * @returns {string[]} paths relative to the root
 */
export function exampleFiles(root) {
  return TEMPLATES.flatMap(({ examples }) => filesBelow(root, examples));
}

/** @param {string} root a checkout */
export function writeTemplates(root) {
  for (const { examples, templates } of TEMPLATES) {
    rmSync(join(root, templates), { recursive: true, force: true });
    for (const path of filesBelow(root, examples)) {
      const [, project, rest] = /^([^/]+)\/(.+)$/.exec(path.slice(examples.length + 1)) ?? [];
      if (project === undefined) continue;
      const to = join(root, templates, project, rest.replace(/^\./, '_'));
      mkdirSync(dirname(to), { recursive: true });
      const content = readFileSync(join(root, path));
      writeFileSync(to, rest === 'README.md' ? withoutMarks(content.toString()) : content);
    }
  }
}

/** Removes the comments that configure the checks of this repository. */
function withoutMarks(page) {
  return page.replace(/^<!--.*-->\n\n?/gm, '');
}

function filesBelow(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (LEFT_OUT.test(entry.name)) return [];
    return entry.isDirectory() ? filesBelow(root, path) : [path];
  });
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) {
  writeTemplates(fileURLToPath(new URL('..', import.meta.url)));
}
