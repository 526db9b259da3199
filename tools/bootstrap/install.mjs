import { spawnSync } from 'node:child_process';
import { fingerprint, readStamp, writeStamp } from './fingerprint.mjs';
import { workspaceManifests } from './workspaces.mjs';

const STAMP = 'node_modules/.cache/svc-install';

/** Installs from the lockfile when it, or a workspace's manifest, is not the one that was installed last. */
export function install() {
  const wanted = fingerprint(['package-lock.json', 'package.json', ...workspaceManifests()]);
  if (readStamp(STAMP) === wanted) return;
  console.log('Installing dependencies from the lockfile …');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    // npm on Windows is a script.
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error('npm ci failed; its message is above.');
  writeStamp(STAMP, wanted);
}
