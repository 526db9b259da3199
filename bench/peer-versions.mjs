import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const { resolve } = createRequire(import.meta.url);

/** Returns the installed versions of packages, by name. */
export function versionsOf(names) {
  return Object.fromEntries(names.map((name) => [name, versionOf(name)]));
}

function versionOf(name) {
  const folders = resolve.paths(name) ?? [];
  const path = folders.map((folder) => join(folder, name, 'package.json')).find(existsSync);
  if (path === undefined) throw new Error(`${name} is not installed. Run npm run bench, which installs it.`);
  return JSON.parse(readFileSync(path, 'utf8')).version;
}
