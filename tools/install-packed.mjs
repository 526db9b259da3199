/**
 * Replaces `npm` in a blank folder: `node tools/install-packed.mjs i @svc/auth`. It unpacks tarballs of the workspace's
 * packages from the folder `SVC_TARBALLS`, and links other packages from the checkout `SVC_CHECKOUT`, dependencies
 * included. It downloads nothing. Every command other than `i` and `install` goes to npm.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { argv, cwd, env, exit } from 'node:process';
import { link, unpack } from './package-consumer.mjs';

const { SVC_TARBALLS: tarballs = '', SVC_CHECKOUT: checkout = '' } = env;
const [command, ...args] = argv.slice(2);

if (command === 'i' || command === 'install') {
  for (const name of args) if (!name.startsWith('-')) await install(name);
} else {
  // The first folder of the path holds this replacement.
  const path = (env.PATH ?? '').split(delimiter).slice(1).join(delimiter);
  const { status } = spawnSync('npm', argv.slice(2), { env: { ...env, PATH: path }, stdio: 'inherit' });
  exit(status ?? 1);
}

/** Installs a package with its dependencies. Optional peers are left out, as for a user who did not ask for them. */
async function install(name) {
  if (!name.startsWith('@svc/')) {
    if (!existsSync(join(checkout, 'node_modules', name))) throw new Error(`npm i ${name}: no such package here.`);
    link(checkout, cwd(), name);
    return;
  }
  const folder = join(cwd(), 'node_modules', name);
  if (existsSync(folder)) return;
  const prefix = name.replace('@', '').replace('/', '-');
  const tarball = readdirSync(tarballs).find((file) => file.replace(/-\d.*$/, '') === prefix);
  if (tarball === undefined) throw new Error(`npm i ${name}: the workspace has no such package.`);
  await unpack(join(tarballs, tarball), folder);
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { bin = {}, dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
  for (const [binary, file] of Object.entries(bin)) provide(binary, join(folder, file));
  // npm installs a peer along with the package, unless the peer is optional.
  const peers = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true);
  for (const dependency of [...Object.keys(dependencies), ...peers]) await install(dependency);
}

function provide(binary, file) {
  const path = join(cwd(), 'node_modules/.bin', binary);
  mkdirSync(dirname(path), { recursive: true });
  chmodSync(file, 0o755);
  symlinkSync(file, path);
}
