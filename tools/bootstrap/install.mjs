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
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const { code, output } = await run('npm', args, {
    cwd: folder,
    env: withoutInstalledPrograms(process.env),
    // npm on Windows is a script.
    shell: process.platform === 'win32',
  });
  if (code !== 0) throw new Error(`${output}\nnpm ci failed. Its message is above.`);
}

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
