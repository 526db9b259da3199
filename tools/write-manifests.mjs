/**
 * Copies the fields that all packages share from the root's package.json into the packages: the address of the
 * repository, the author, the licence, and the scripts that guard a publication. `node tools/write-manifests.mjs`;
 * `--check` writes nothing, and fails on a package that differs.
 */
import { join, resolve } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { publishedPackages, readManifest, writeJson } from './release/workspaces.mjs';

/** The scripts of every package. npm runs them before it packs, and before it publishes a folder. */
const SCRIPTS = {
  prepack: 'node ../../tools/release/refuse-outdated.mjs',
  prepublishOnly: 'node ../../tools/release/refuse-placeholder.mjs',
};

/**
 * @param {string} root a checkout
 * @returns {{ path: string, manifest: object }[]} the manifests that differ, with their new content
 */
export function manifestsBehind(root) {
  const project = readManifest(root, '.');
  return publishedPackages(root).flatMap(({ folder, manifest }) => {
    const wanted = withSharedFields(manifest, project, folder);
    const isSame = JSON.stringify(wanted) === JSON.stringify(manifest);
    return isSame ? [] : [{ path: `${folder}/package.json`, manifest: wanted }];
  });
}

/** Keeps the order of the fields. New ones follow the description. */
function withSharedFields(manifest, project, folder) {
  const shared = {
    homepage: `${pageOf(project)}/tree/main/${folder}#readme`,
    bugs: project.bugs,
    repository: { ...project.repository, directory: folder },
    license: project.license,
    author: project.author,
  };
  const { name, version, description, ...others } = manifest;
  const scripts = { ...SCRIPTS, ...manifest.scripts, ...SCRIPTS };
  const known = Object.keys(shared).every((field) => field in manifest) && 'scripts' in manifest;
  if (known) return { ...manifest, ...shared, scripts };
  const rest = Object.fromEntries(Object.entries(others).filter(([field]) => !(field in shared)));
  return { name, version, description, ...shared, ...rest, scripts };
}

/** Returns the address of the repository's page, without the parts that only Git needs. */
function pageOf({ repository }) {
  return repository.url.replace(/^git\+/, '').replace(/\.git$/, '');
}

function main() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const behind = manifestsBehind(root);
  if (argv.includes('--check')) {
    for (const { path } of behind)
      console.error(`${path}: differs from the root's package.json. Run npm run generate.`);
    if (behind.length > 0) exit(1);
    return;
  }
  for (const { path, manifest } of behind) writeJson(join(root, path), manifest);
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) main();
