import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The folders of the published packages. */
export function packageFolders() {
  return foldersIn('packages');
}

/** The package.json of every workspace. */
export function workspaceManifests() {
  const folders = [...packageFolders(), ...foldersIn('examples'), 'tools'];
  return folders.map((folder) => join(folder, 'package.json')).filter((path) => existsSync(path));
}

function foldersIn(parent) {
  return readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(parent, entry.name))
    .sort();
}
