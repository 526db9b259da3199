import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { runServer } from 'verdaccio';

const { run } = await import(join(env.SVC_CHECKOUT, 'tools/bootstrap/children.mjs'));
const { productionDependencies } = await import(join(env.SVC_CHECKOUT, 'tools/release/sbom.mjs'));
const { publishedPackages } = await import(join(env.SVC_CHECKOUT, 'tools/release/workspaces.mjs'));

/**
 * Starts a registry on loopback that asks no other registry. It has the third-party packages that ours depend on, in
 * the versions of the lockfile, and none of ours.
 *
 * @param {string} folder an empty folder
 * @returns {Promise<{ url: string, close(): Promise<void> }>}
 */
export async function startRegistry(folder) {
  const everybody = { access: '$all', publish: '$all' };
  const app = await runServer({
    self_path: folder,
    storage: join(folder, 'storage'),
    uplinks: {},
    packages: { '@*/*': everybody, '**': everybody },
    auth: { htpasswd: { file: join(folder, 'htpasswd') } },
    web: { enable: false },
    max_body_size: '100mb',
    log: { type: 'file', path: join(folder, 'registry.log'), level: 'warn' },
  });
  await new Promise((resolve) => app.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${app.address().port}/`;
  for (const path of thirdPartyFolders()) await add(url, join(env.SVC_CHECKOUT, path), folder);
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        app.close(resolve);
        app.closeAllConnections();
      }),
  };
}

/** Lists the folders of what our packages depend on, optional peers included. */
function thirdPartyFolders() {
  const lock = JSON.parse(readFileSync(join(env.SVC_CHECKOUT, 'package-lock.json'), 'utf8'));
  const own = publishedPackages(env.SVC_CHECKOUT);
  const peers = own.flatMap(({ manifest }) => Object.keys(manifest.peerDependencies ?? {}));
  const roots = [...own.map(({ folder }) => folder), ...peers.map((name) => `node_modules/${name}`)];
  const found = roots.flatMap((root) => [root, ...productionDependencies(lock, root).map(({ path }) => path)]);
  const paths = [...new Set(found)].filter((path) => path.includes('node_modules/'));
  // npm leaves out optional packages that are for other machines.
  return paths.filter((path) => existsSync(join(env.SVC_CHECKOUT, path)));
}

/** Puts an installed package into the registry, as the client of its author would. */
async function add(url, source, folder) {
  const copy = join(folder, 'package');
  const tarball = join(folder, 'package.tgz');
  cpSync(source, copy, { recursive: true, filter: (path) => !path.slice(source.length).includes('node_modules') });
  const manifest = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8'));
  // The scripts of the author ran before the package was first published.
  delete manifest.scripts;
  writeFileSync(join(copy, 'package.json'), JSON.stringify(manifest));
  const { code, output } = await run('tar', ['-czf', tarball, '-C', folder, 'package']);
  if (code !== 0) throw new Error(output);
  const { name, version } = manifest;
  const file = `${name}-${version}.tgz`;
  const data = readFileSync(tarball);
  const response = await fetch(url + name.replace('/', '%2f'), {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      _id: name,
      name,
      'dist-tags': { latest: version },
      versions: {
        [version]: { ...manifest, _id: `${name}@${version}`, dist: await distOf(data, `${url}${name}/-/${file}`) },
      },
      _attachments: {
        [file]: { content_type: 'application/octet-stream', data: data.toString('base64'), length: data.length },
      },
    }),
  });
  // Two folders can have the same version of a package.
  if (!response.ok && response.status !== 409) throw new Error(`${name}: ${response.status} ${await response.text()}`);
  rmSync(copy, { recursive: true });
}

async function distOf(data, tarball) {
  const digest = async (algorithm) => Buffer.from(await crypto.subtle.digest(algorithm, data));
  const [sha1, sha512] = await Promise.all([digest('SHA-1'), digest('SHA-512')]);
  return { tarball, shasum: sha1.toString('hex'), integrity: `sha512-${sha512.toString('base64')}` };
}

/**
 * Returns the environment of a person who uses only this registry: nothing of this machine's npm is left in it.
 *
 * @param {string} url of the registry
 * @param {string} folder for the person's settings and cache
 * @returns {NodeJS.ProcessEnv}
 */
export function personWith(url, folder) {
  mkdirSync(folder, { recursive: true });
  const settings = join(folder, 'npmrc');
  // This registry takes every token, but npm does not publish without one.
  writeFileSync(settings, `registry=${url}\n${url.replace('http:', '')}:_authToken=anybody\n`);
  const own = Object.entries(env).filter(([name]) => !/^npm_/i.test(name) && name !== 'GITHUB_ACTIONS');
  return {
    ...Object.fromEntries(own),
    HOME: folder,
    npm_config_userconfig: settings,
    npm_config_cache: join(folder, 'cache'),
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  };
}
