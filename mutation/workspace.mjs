import { cpSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';

/**
 * Copies the sources and tests of the checkout into a temporary folder. Stryker changes the copy: a run that is killed
 * leaves the checkout as it was. Installed packages are links; those of the workspace lead to their copies.
 *
 * @param {string} checkout
 * @returns {{ folder: string, remove: () => void }}
 */
export function copyOf(checkout) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-mutation-')));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    for (const path of COPIED) cpSync(join(checkout, path), join(folder, path), { recursive: true, filter: isSource });
    linkPackages(join(checkout, 'node_modules'), join(folder, 'node_modules'), folder);
  } catch (error) {
    remove();
    throw error;
  }
  return { folder, remove };
}

const COPIED = ['packages', 'tools', 'docs/requirements.json', 'package.json', 'tsconfig.base.json'];

function isSource(path) {
  return !LEFT_OUT.has(basename(path));
}

const LEFT_OUT = new Set(['node_modules', 'dist', '.cache', 'templates', 'manual']);

const WORKSPACE_SCOPE = '@svc';

function linkPackages(from, to, folder) {
  mkdirSync(to);
  for (const name of readdirSync(from)) if (name !== WORKSPACE_SCOPE) link(join(from, name), join(to, name));
  mkdirSync(join(to, WORKSPACE_SCOPE));
  for (const name of readdirSync(join(from, WORKSPACE_SCOPE))) {
    const workspace = join(from, WORKSPACE_SCOPE, name);
    const path = resolve(from, WORKSPACE_SCOPE, readlinkSync(workspace));
    link(join(folder, path.slice(resolve(from, '..').length)), join(to, WORKSPACE_SCOPE, name));
  }
}

function link(target, path) {
  // Windows makes links to folders without a privilege only as junctions.
  symlinkSync(target, path, 'junction');
}
