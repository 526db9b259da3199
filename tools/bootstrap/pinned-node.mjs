import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { run, withoutInstalledPrograms } from './children.mjs';

/** The lowest Node that the packages run on. The set-up runs on an older one. */
export const LOWEST = [22, 19];

/**
 * Returns the path of the Node that the lockfile pins. Fetches it when npm did not run its install script. On a machine
 * for which it does not exist, returns the machine's own Node, if that is new enough.
 *
 * @throws {Error} when neither is there
 */
export async function pinnedNode() {
  const binary = resolve('node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(binary)) await fetchBinary();
  if (spawnSync(binary, ['--version']).status === 0) return binary;
  if (isEnough(process.versions.node)) return process.execPath;
  const needed = LOWEST.join('.');
  throw new Error(
    `Node: ${process.versions.node} is older than ${needed}, and the pinned Node could not be fetched.\n` +
      'Install Node 24, or allow this machine to reach the npm registry, and start again.',
  );
}

/** Does the work of the install script of the package `node`. The caller checks the result. */
async function fetchBinary() {
  console.log('Fetching the pinned Node …');
  await run(process.execPath, ['installArchSpecificPackage.js'], {
    cwd: 'node_modules/node',
    env: withoutInstalledPrograms(process.env),
  });
}

function isEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > LOWEST[0] || (major === LOWEST[0] && minor >= LOWEST[1]);
}
