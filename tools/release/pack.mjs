/**
 * Makes everything that a release publishes: `npm run release:pack -- v2.0.0-rc.1`. Writes the tarballs, a bill of
 * materials for each, the release notes and `release.json` into `release/`. Refuses a tag that is not the version.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { pack } from '../package-tarball.mjs';
import { distTagOf, notesOf, releaseProblems } from './release.mjs';
import { sbomOf } from './sbom.mjs';
import { publishedPackages, writeJson } from './workspaces.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const tag = argv[2] ?? '';
const problems = releaseProblems(root, tag);
for (const problem of problems) console.error(problem);
if (problems.length > 0) exit(1);

const out = join(root, 'release');
rmSync(out, { recursive: true, force: true });
mkdirSync(out);
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const version = tag.slice(1);
const packages = [];
for (const { folder, manifest } of inOrder(publishedPackages(root))) {
  const { path } = await pack(root, folder, out);
  const integrity = `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`;
  writeJson(path.replace(/\.tgz$/, '.cdx.json'), sbomOf(lock, folder, integrity));
  packages.push({ name: manifest.name, tarball: basename(path), integrity });
}
writeFileSync(join(out, 'notes.md'), releaseNotes());
writeJson(join(out, 'release.json'), { tag, version, distTag: distTagOf(version), packages });
console.log(`${packages.length} packages of ${tag} are in release/.`);

/** Orders the packages so that each follows its dependencies: an installation during the release finds all of them. */
function inOrder(unordered) {
  const names = new Set(unordered.map(({ manifest }) => manifest.name));
  const ordered = new Map();
  const take = (one) => {
    if (ordered.has(one.manifest.name)) return;
    const siblings = Object.keys(one.manifest.dependencies ?? {}).filter((name) => names.has(name));
    for (const name of siblings) take(unordered.find(({ manifest }) => manifest.name === name));
    ordered.set(one.manifest.name, one);
  };
  for (const one of unordered) take(one);
  return [...ordered.values()];
}

function releaseNotes() {
  const sections = publishedPackages(root).map(({ folder, manifest }) => {
    const notes = notesOf(root, folder, version) ?? '';
    return notes.startsWith('No changes') ? '' : `## ${manifest.name}\n\n${notes}\n`;
  });
  return sections.filter((section) => section !== '').join('\n');
}
