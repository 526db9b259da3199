import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

/**
 * The Node that the lockfile pins. npm may be set not to run install scripts, and then it is fetched here; a machine that it
 * does not exist for is served by its own Node when that is new enough.
 */
export function pinnedNode() {
  const binary = resolve('node_modules/node/bin/node');
  if (runs(binary)) return binary;
  console.log('Fetching the pinned Node …');
  spawnSync(process.execPath, ['installArchSpecificPackage.js'], { cwd: 'node_modules/node', stdio: 'ignore' });
  if (runs(binary)) return binary;
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 19)) return process.execPath;
  throw new Error(
    `Node ${process.versions.node} is too old, and the pinned one could not be installed. Install Node 24.`,
  );
}

function runs(binary) {
  return spawnSync(binary, ['--version']).status === 0;
}
