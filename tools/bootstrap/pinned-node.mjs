import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { run, withoutInstalledPrograms } from './children.mjs';

/** The lowest Node that everything runs on. */
const LOWEST = [22, 19];

/**
 * The Node that the lockfile pins. npm may be set not to run install scripts, and then it is fetched here; a machine that it
 * does not exist for is served by its own Node when that is new enough.
 */
export async function pinnedNode() {
  const binary = resolve('node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(binary)) await fetchBinary();
  if (spawnSync(binary, ['--version']).status === 0) return binary;
  if (isEnough(process.versions.node)) return process.execPath;
  const needed = LOWEST.join('.');
  throw new Error(
    `Node ${process.versions.node} is too old (${needed} or later is needed), and the pinned Node could not be fetched.\n` +
      'Install Node 24, or let this machine reach the npm registry, and start again.',
  );
}

/** What the install script of the package `node` does. Whether it worked is seen by the binary. */
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
