/** Reads the manifests of a checkout: which packages are published, and which addresses and versions they have. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Lists the published packages.
 *
 * @param {string} root a checkout
 * @returns {Workspace[]} ordered by folder
 *
 * @typedef {{ folder: string, manifest: Record<string, any> }} Workspace `folder` is relative to the root, with `/`
 */
export function publishedPackages(root) {
  return workspacesOf(root).filter(({ manifest }) => manifest.private !== true);
}

/**
 * Lists all workspaces, which are the published packages, the examples and the tools.
 *
 * @param {string} root a checkout
 * @returns {Workspace[]}
 */
export function workspacesOf(root) {
  return readManifest(root, '.').workspaces.flatMap((pattern) => {
    if (!pattern.endsWith('/*')) return [{ folder: pattern, manifest: readManifest(root, pattern) }];
    const parent = pattern.slice(0, -2);
    return readdirSync(join(root, parent))
      .sort()
      .map((name) => `${parent}/${name}`)
      .filter((folder) => existsSync(join(root, folder, 'package.json')))
      .map((folder) => ({ folder, manifest: readManifest(root, folder) }));
  });
}

/**
 * Lists the folders of every package.json below `packages` and `examples`: of the workspaces, and of the projects and
 * templates that users copy.
 *
 * @param {string} root a checkout
 * @returns {string[]}
 */
export function projectFolders(root) {
  return ['packages', 'examples'].flatMap((parent) => projectsBelow(root, parent));
}

function projectsBelow(root, folder) {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  const below = entries
    .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules' && entry.name !== 'dist')
    .flatMap(({ name }) => projectsBelow(root, `${folder}/${name}`));
  return entries.some(({ name }) => name === 'package.json') ? [folder, ...below] : below;
}

/**
 * Reads the package.json of a folder.
 *
 * @param {string} root a checkout
 * @param {string} folder
 * @returns {Record<string, any>}
 */
export function readManifest(root, folder) {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
}

/** Writes JSON as npm and Biome format it. */
export function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
