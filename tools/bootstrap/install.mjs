import { readFileSync, rmSync } from 'node:fs';
import { dirname, posix, sep } from 'node:path';
import { run, withoutInstalledPrograms } from './children.mjs';
import { digest, readStamp, writeStamp } from './stamp.mjs';
import { workspaceManifests } from './workspaces.mjs';

const STAMP = 'node_modules/.cache/svc/install';

/** npm's own list of the packages that it put into node_modules. */
const NOTE = 'node_modules/.package-lock.json';

/** Installs from the lockfile, unless the last installation was of the same lockfile and the same manifests. */
export async function install() {
  const lock = readJson('package-lock.json');
  const paths = ['package.json', ...workspaceManifests()];
  const asked = Object.fromEntries(paths.map((path) => [path, dependenciesOf(path)]));
  const wanted = digest([JSON.stringify(lock), JSON.stringify(asked), process.platform, process.arch]);
  if (readStamp(STAMP) === wanted) return;
  if (!agrees(lock, asked) || !isInstalled(lock, readJson(NOTE))) await installFromLock();
  writeStamp(STAMP, wanted);
}

/**
 * Installs a folder that has a lockfile of its own and is no workspace. Its packages are for one task, and too large for the others.
 *
 * @param {string} folder
 */
export async function installBeside(folder) {
  const stamp = `${folder}/${STAMP}`;
  const texts = ['package.json', 'package-lock.json'].map((name) => JSON.stringify(readJson(`${folder}/${name}`)));
  const wanted = digest([...texts, process.platform, process.arch]);
  if (readStamp(stamp) === wanted) return;
  await installFromLock(folder);
  writeStamp(stamp, wanted);
}

async function installFromLock(folder = '.') {
  console.log(`Installing dependencies${folder === '.' ? '' : ` of ${folder}`} from the lockfile …`);
  rmSync(`${folder}/${NOTE}`, { force: true });
  for (let tries = 1; ; tries += 1) {
    const { code, output } = await run('npm', NPM_CI, {
      cwd: folder,
      env: withoutInstalledPrograms(process.env),
      // npm on Windows is a script.
      shell: process.platform === 'win32',
    });
    if (code === 0) return;
    // A lockfile that disagrees with its manifest disagrees the next time too.
    if (tries === MOST_TRIES || !NETWORK_ERROR.test(output))
      throw new Error(`${output}\nnpm ci${folder === '.' ? '' : ` in ${folder}`} failed. Its message is above.`);
    console.log(`npm ci failed. Trying again in ${PAUSE_MS / 1000} s …`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** Packages that npm has downloaded before are taken from its cache. Some packages link their programs in an install script. */
const NPM_CI = [
  ...['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'],
  ...['--prefer-offline', '--ignore-scripts=false'],
  // A registry that is away is told within two minutes.
  ...['--fetch-retries=3', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=10000'],
];
const MOST_TRIES = 3;
const PAUSE_MS = 5000;
const NETWORK_ERROR =
  /\b(E(AI_AGAIN|CONN\w*|NETUNREACH|NOTFOUND|PIPE|PROTO|SOCKETTIMEDOUT|TIMEDOUT|INTEGRITY)|E[45]\d\d|ERR_\w+)\b|network|socket/i;

const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];

function dependenciesOf(path) {
  const manifest = readJson(path);
  return KINDS.map((kind) => manifest[kind] ?? {});
}

/** Whether the lockfile was made for these manifests. When it was not, npm reports the difference. */
function agrees(lock, asked) {
  return Object.entries(asked).every(([path, dependencies]) => {
    const folder = dirname(path).split(sep).join(posix.sep);
    const locked = lock.packages[folder === '.' ? '' : folder] ?? {};
    return KINDS.every((kind, index) => isSameRecord(locked[kind] ?? {}, dependencies[index]));
  });
}

function isSameRecord(one, other) {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}

/**
 * Whether npm has already installed the packages of the lockfile, for this machine. An installation by hand counts.
 *
 * @param {{ packages: Record<string, object> }} lock the lockfile
 * @param {{ packages: Record<string, object> } | undefined} note npm's own note in node_modules
 */
export function isInstalled(lock, note) {
  if (note === undefined) return false;
  const isRight = Object.entries(note.packages).every(([path, { version, integrity, os, cpu }]) => {
    // A workspace is a link, so a new version of it needs no installation.
    if (!path.includes('node_modules/')) return true;
    const locked = lock.packages[path];
    const fits =
      (os ?? [process.platform]).includes(process.platform) && (cpu ?? [process.arch]).includes(process.arch);
    return locked !== undefined && locked.version === version && locked.integrity === integrity && fits;
  });
  // npm leaves out optional packages for other machines.
  const isWhole = Object.entries(lock.packages).every(([path, { optional }]) => {
    return path === '' || optional === true || note.packages[path] !== undefined;
  });
  return isRight && isWhole;
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw new Error(`${path}: cannot be read (${error.message}). Restore it with git.`);
  }
}
