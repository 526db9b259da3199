import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The folders of the published packages. */
export function packageFolders() {
  return workspacesIn('packages');
}

/** The folders of the examples. */
export function exampleFolders() {
  return workspacesIn('examples');
}

/** The package.json of every workspace. */
export function workspaceManifests() {
  return [...packageFolders(), ...exampleFolders(), 'tools'].map((folder) => join(folder, 'package.json'));
}

function workspacesIn(parent) {
  return readdirSync(parent)
    .sort()
    .map((name) => join(parent, name))
    .filter((folder) => existsSync(join(folder, 'package.json')));
}
