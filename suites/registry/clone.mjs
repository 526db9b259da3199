import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { env } from 'node:process';

const { run } = await import(join(env.SVC_CHECKOUT, 'tools/bootstrap/children.mjs'));
const { workspacesOf, readManifest, writeJson } = await import(join(env.SVC_CHECKOUT, 'tools/release/workspaces.mjs'));

/**
 * Clones the last commit of the checkout, with nothing installed and nothing built. Changes that are not committed are
 * not part of a release.
 *
 * @param {string} folder is created
 */
export async function cloneTo(folder) {
  const { code, output } = await run('git', [
    // Another account may own the checkout.
    ...['-c', 'safe.directory=*', 'clone', '-q', '--depth', '1'],
    ...[`file://${env.SVC_CHECKOUT}`, folder],
  ]);
  if (code !== 0) throw new Error(`The checkout cannot be cloned:\n${output}`);
}

/**
 * Installs in a clone what the lockfile names, without a download: links to the checkout's third-party packages, and to
 * the clone's own.
 *
 * @param {string} clone
 */
export function installIn(clone) {
  const installed = join(env.SVC_CHECKOUT, 'node_modules');
  const modules = join(clone, 'node_modules');
  mkdirSync(join(modules, '@svc'), { recursive: true });
  for (const name of readdirSync(installed)) {
    if (name === '@svc' || name === '.cache') continue;
    // npm writes into its note. Written through a link, it would be wrong for the checkout.
    if (name === '.package-lock.json') copyFileSync(join(installed, name), join(modules, name));
    else symlinkSync(join(installed, name), join(modules, name));
  }
  for (const { folder, manifest } of workspacesOf(clone)) {
    const link = join(modules, manifest.name);
    symlinkSync(relative(join(link, '..'), join(clone, folder)), link);
  }
}

/** Gives the project an address, as a maintainer does before the first release. */
export function settle(clone) {
  const project = readManifest(clone, '.');
  project.repository.url = 'git+https://git.example/svc.git';
  project.bugs.url = 'https://git.example/svc/issues';
  writeJson(join(clone, 'package.json'), project);
}

/** Returns the JSON of a file in a folder. */
export function readJson(folder, name) {
  return JSON.parse(readFileSync(join(folder, name), 'utf8'));
}

/** Makes a folder with nothing but a package.json. */
export function blankProject(folder) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  return folder;
}
