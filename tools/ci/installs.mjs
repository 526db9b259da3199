import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { env, getuid } from 'node:process';
import { install, installBeside } from '../bootstrap/install.mjs';
import { pinnedNode } from '../bootstrap/pinned-node.mjs';

/** Folders with a lockfile of their own that a run needs. */
const BESIDE = ['tools/runtimes', 'docs/site', 'mutation'];

/**
 * Installs everything that a run needs, so that no later step asks a registry.
 *
 * @returns {Promise<string[]>} one sentence for each part that could not be installed
 */
export async function installAll() {
  const problems = installDebianPackages();
  try {
    await install();
    await pinnedNode();
    problems.push(...(await installFolders([...BESIDE, ...suites()])));
  } catch (error) {
    problems.push(error.message);
  }
  return problems;
}

/** Each folder has a lockfile and a node_modules of its own. npm waits for the disk and the registry for half of its time. */
async function installFolders(folders) {
  const waiting = [...folders];
  const problems = [];
  const lane = async () => {
    for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) {
      try {
        await installBeside(folder);
      } catch (error) {
        problems.push(error.message);
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return problems;
}

const LANES = 3;

function suites() {
  return readdirSync('suites')
    .map((name) => join('suites', name))
    .filter((folder) => existsSync(join(folder, 'package-lock.json')));
}

/** Browsers, brokers and toolchains are in no npm package. Any Chromium will do. */
function installDebianPackages() {
  const listed = ['soak/debian-packages.txt', ...suites().map((folder) => join(folder, 'debian-packages.txt'))]
    .filter(existsSync)
    .flatMap((path) => readFileSync(path, 'utf8').split(/\s+/))
    .filter((name) => name !== '');
  const wanted = [...new Set([...(hasChromium() ? [] : ['chromium']), ...listed])];
  const missing = wanted.filter((name) => !isInstalled(name));
  if (missing.length === 0) return [];
  if (spawnSync('apt-get', ['--version']).status !== 0)
    return [`This system has no apt-get. Install by hand: ${missing.join(', ')}.`];
  apt(['update', '-qq']);
  // Together first, which is fast. One without a candidate fails all of them, so then each for itself.
  if (apt(INSTALL.concat(missing)).status === 0) return [];
  return missing.flatMap((name) => {
    const { status, stderr } = apt([...INSTALL, name]);
    return status === 0 ? [] : [`The Debian package ${name} could not be installed: ${lastLine(stderr)}`];
  });
}

const INSTALL = ['install', '-qq', '-y', '--no-install-recommends'];

function apt(args) {
  const command = getuid?.() === 0 ? ['apt-get'] : ['sudo', '-n', 'apt-get'];
  return spawnSync(command[0], [...command.slice(1), '-o', 'Acquire::Retries=3', ...args], {
    encoding: 'utf8',
    env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
  });
}

function isInstalled(name) {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the field is dpkg's
  const { stdout } = spawnSync('dpkg-query', ['-W', '-f', '${Status}', name], { encoding: 'utf8' });
  return stdout === 'install ok installed';
}

function hasChromium() {
  const folders = (env.PATH ?? '').split(delimiter);
  return ['chromium', 'chromium-browser', 'google-chrome', 'chrome'].some((name) =>
    folders.some((folder) => existsSync(join(folder, name))),
  );
}

function lastLine(text) {
  return text.trim().split('\n').at(-1) ?? '';
}
