import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { env, execPath } from 'node:process';

/**
 * Lays out the folder of a user: the installed packages, and their commands on the path.
 *
 * @param {string} workspace an empty folder
 * @param {string} installed a checkout that is built
 * @returns {NodeJS.ProcessEnv} the environment of the programs in the folder
 */
export function furnished(workspace, installed) {
  symlinkSync(join(installed, 'node_modules'), join(workspace, 'node_modules'), 'junction');
  writeFileSync(join(workspace, 'package.json'), '{ "private": true, "type": "module" }');
  const commands = join(workspace, 'bin');
  mkdirSync(commands);
  const provide = (name, script) => {
    writeFileSync(join(commands, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(commands, name), 0o755);
  };
  for (const [name, file] of binariesOf(installed)) provide(name, `exec node ${quoted(file)} "$@"`);
  provide('npx', 'while [ "$1" = -p ]; do shift 2; done; exec "$@"');
  provide('npm', NPM);
  const path = [commands, dirname(execPath), env.PATH ?? ''].join(delimiter);
  // A page calls programs on this machine, and no proxy does.
  const direct = { no_proxy: '127.0.0.1,localhost', NO_PROXY: '127.0.0.1,localhost' };
  return { ...env, ...direct, PATH: path, SVC_INSTALLED: join(installed, 'node_modules'), NO_COLOR: '1' };
}

/** A path as one word of a shell. */
function quoted(path) {
  return `'${path.replaceAll("'", "'\\''")}'`;
}

/** Downloads nothing. Fails for a package that the workspace does not have, so a page cannot name a wrong one. */
const NPM = `case "$1" in
  i|install) shift ;;
  init|pkg) exit 0 ;;
  create) command="create-\${2#@svc/}"; folder="$3"; shift 4; exec "$command" "$folder" "$@" ;;
  *) echo "npm $1 is not run from a page"; exit 1 ;;
esac
for name in "$@"; do
  case "$name" in -*) continue ;; esac
  [ -d "$SVC_INSTALLED/$name" ] || { echo "npm install: the workspace has no package $name"; exit 1; }
done`;

function binariesOf(installed) {
  const folder = join(installed, 'packages');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const manifest = join(folder, name, 'package.json');
    if (!existsSync(manifest)) return [];
    const { bin = {} } = JSON.parse(readFileSync(manifest, 'utf8'));
    return Object.entries(bin).map(([command, file]) => [command, join(folder, name, file)]);
  });
}
