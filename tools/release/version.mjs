/**
 * Consumes the changesets: `npm run release:version`. Writes the next version into every manifest, the lockfile, the
 * version modules and the changelogs. The first release is the candidate 2.0.0-rc.1.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execPath, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { manifestsBehind } from '../write-manifests.mjs';
import { versionsBehind } from '../write-versions.mjs';
import { siblingRange } from './release.mjs';
import { projectFolders, publishedPackages, readManifest, workspacesOf, writeJson } from './workspaces.mjs';

const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];

/** Changesets counts candidates from 0, and the interface's first candidate is 1: nothing has this version. */
const BEFORE_THE_FIRST = '2.0.0-rc.0';

const root = fileURLToPath(new URL('../..', import.meta.url));
const packages = publishedPackages(root);
if (packages.every(({ manifest }) => manifest.version === '0.0.0')) setVersion(BEFORE_THE_FIRST);
const changesets = join(root, 'node_modules/@changesets/cli/bin.js');
const { status } = spawnSync(execPath, [changesets, 'version'], { cwd: root, stdio: 'inherit' });
if (status !== 0) exit(status ?? 1);

const versions = new Set(publishedPackages(root).map(({ manifest }) => manifest.version));
if (versions.size !== 1) throw new Error(`The packages have several versions: ${[...versions].join(', ')}.`);
const [version] = versions;
setVersion(version);
for (const { path, manifest } of manifestsBehind(root)) writeJson(join(root, path), manifest);
for (const { path, text } of versionsBehind(root)) writeFileSync(join(root, path), text);
console.log(`All packages have version ${version}. Read the changelogs, and commit.`);

/** Writes a version, and the ranges of all projects on the packages, into every manifest and into the lockfile. */
function setVersion(version) {
  const workspaces = workspacesOf(root);
  const names = new Set(workspaces.map(({ manifest }) => manifest.name));
  const own = new Set(['.', ...workspaces.map(({ folder }) => folder)]);
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  lock.version = version;
  for (const folder of new Set([...own, ...projectFolders(root)])) {
    const manifest = readManifest(root, folder);
    const locked = own.has(folder) ? lock.packages[folder === '.' ? '' : folder] : undefined;
    for (const target of locked === undefined ? [manifest] : [manifest, locked]) {
      if (own.has(folder)) target.version = version;
      for (const [kind, name] of siblingsOf(target, names)) target[kind][name] = siblingRange(version);
    }
    writeJson(join(root, folder, 'package.json'), manifest);
  }
  writeJson(join(root, 'package-lock.json'), lock);
}

function siblingsOf(manifest, names) {
  return KINDS.flatMap((kind) => Object.keys(manifest[kind] ?? {}).map((name) => [kind, name])).filter(([, name]) =>
    names.has(name),
  );
}
