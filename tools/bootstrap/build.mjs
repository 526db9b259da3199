import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fingerprint, readStamp, writeStamp } from './fingerprint.mjs';
import { packageFolders, workspaceManifests } from './workspaces.mjs';

const STAMP = 'node_modules/.cache/svc-build';
const TSC = 'node_modules/typescript/bin/tsc';
const TSUP = 'node_modules/tsup/dist/cli-default.js';

/** Builds packages and examples when their sources are not those of the last build. A build that fails leaves no stamp. */
export function build(node) {
  const wanted = fingerprint(inputs());
  if (readStamp(STAMP) === wanted) return;
  console.log('Building packages and examples …');
  rmSync(STAMP, { force: true });
  // Nothing of an earlier build is left to be taken for this one's.
  for (const path of workspaceManifests()) rmSync(join(path, '..', 'dist'), { recursive: true, force: true });
  for (const folder of packageFolders()) run(node, [join(process.cwd(), TSUP)], folder);
  run(node, [TSC, '-b'], '.');
  writeStamp(STAMP, wanted);
}

function inputs() {
  const sources = workspaceManifests().map((path) => join(path, '..', 'src'));
  const configurations = workspaceManifests().flatMap((path) =>
    ['tsconfig.json', 'tsconfig.node.json', 'tsup.config.ts'].map((name) => join(path, '..', name)),
  );
  const shared = ['tsconfig.json', 'tsconfig.base.json', 'tsup.base.ts', 'package-lock.json'];
  return [...shared, ...workspaceManifests(), ...configurations, ...sources];
}

function run(node, command, cwd) {
  const { status, stdout, stderr } = spawnSync(node, command, { cwd, encoding: 'utf8' });
  if (status === 0) return;
  throw new Error(`The build of ${cwd} failed:\n${stdout}${stderr}`);
}
