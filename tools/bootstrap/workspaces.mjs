import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the folders of the published packages. */
export function packageFolders() {
  return workspacesIn('packages');
}

/** Returns the folders of the examples. */
export function exampleFolders() {
  return workspacesIn('examples');
}

/** Returns the path of every command that the packages install, by its name. */
export function commandsOfPackages() {
  const found = packageFolders().flatMap((folder) => {
    const { bin = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return Object.entries(bin).map(([name, file]) => [name, join(folder, file)]);
  });
  return new Map(found);
}

/** Returns the path of every workspace's package.json. */
export function workspaceManifests() {
  return [...packageFolders(), ...exampleFolders(), 'tools'].map((folder) => join(folder, 'package.json'));
}

function workspacesIn(parent) {
  return readdirSync(parent)
    .sort()
    .map((name) => join(parent, name))
    .filter((folder) => existsSync(join(folder, 'package.json')));
}
