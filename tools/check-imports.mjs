/**
 * Holds every source file to `import-rules.mjs`: `node tools/check-imports.mjs` prints what breaks them and fails.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, posix, resolve } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { CONFIGURATION, DRAWERS, FOR_TESTS, HOMES, ROOMS, WITHOUT_IO, WORKSPACES } from './import-rules.mjs';
import { importsOf } from './import-specifiers.mjs';

/**
 * @param {string} root a checkout
 * @returns {string[]} one sentence for each breach
 */
export function checkImports(root) {
  const manifests = readManifests(root);
  const workspaces = Object.keys(WORKSPACES).filter((folder) => existsSync(join(root, folder)));
  const files = workspaces.flatMap((folder) => filesBelow(root, folder));
  /** @type {Map<string, string[]>} from each file to the files that it imports by a relative path */
  const graph = new Map();
  const problems = [...unknownWorkspaces(root), ...files.flatMap(drawersIn)];
  for (const path of files.filter((path) => /\.(ts|mjs)$/.test(path))) {
    const imports = importsOf(readFileSync(join(root, path), 'utf8'));
    const relative = imports.map(({ specifier }) => specifier).filter(isRelative);
    graph.set(
      path,
      relative.map((specifier) => targetOf(path, specifier)),
    );
    for (const { specifier, line, star } of imports) {
      if (isRelative(specifier) && isOfList(root, path, specifier)) {
        problems.push(`${path}:${line} imports the list ${specifier}; import the file`);
      }
      if (star) problems.push(`${path}:${line} exports everything of another file; name what is meant`);
      const breach = breachOf(path, specifier, manifests);
      if (breach !== undefined) problems.push(`${path}:${line} ${breach}`);
    }
  }
  // Rules without a cycle allow no cycle of rooms, so the rules alone need to be walked.
  return [...problems, ...cyclesIn(graph), ...cyclesIn(new Map(Object.entries(ROOMS.mayImport)))];
}

function breachOf(path, specifier, manifests) {
  const workspace = workspaceOf(path);
  const homes = HOMES[packageNameOf(specifier)];
  if (homes !== undefined && workspace !== 'tools' && !isTest(path) && !homes.some((home) => isIn(path, home))) {
    return `imports ${specifier}, which only ${homes.join(' and ')} may`;
  }
  if (isRelative(specifier)) return relativeBreach(path, targetOf(path, specifier), workspace);
  if (specifier.startsWith('#')) {
    const isMapped = manifests.get(workspace).imports?.[specifier] !== undefined;
    return isMapped ? undefined : `imports ${specifier}, which package.json does not map`;
  }
  if (isBuiltin(specifier)) {
    if (!specifier.startsWith('node:')) return `imports ${specifier} without node:`;
    const isQuiet = WITHOUT_IO.some((room) => isIn(path, room));
    return isQuiet ? `imports ${specifier} in a room without input and output` : undefined;
  }
  return bareBreach(path, specifier, workspace, manifests);
}

function relativeBreach(path, target, workspace) {
  if (CONFIGURATION.includes(target) && path.endsWith('.config.ts')) return undefined;
  if (workspaceOf(target) !== workspace) return `reaches into ${target} instead of importing the package`;
  const [from, to] = [path, target].map(roomOf);
  if (from === undefined || to === undefined || from === to) return undefined;
  const allowed = ROOMS.mayImport[from];
  if (allowed === undefined) return `is in ${from}, a room that tools/import-rules.mjs does not know`;
  return allowed.includes(to) ? undefined : `imports ${to}, which ${from} may not`;
}

function bareBreach(path, specifier, workspace, manifests) {
  const name = packageNameOf(specifier);
  const own = manifests.get(workspace);
  if (name === own.name) return isTest(path) ? undefined : `imports its own package ${name}; import the file`;
  const owner = [...manifests.values()].find((manifest) => manifest.name === name);
  if (owner !== undefined) {
    const allowed = [...WORKSPACES[workspace], ...(isTest(path) ? FOR_TESTS : [])];
    if (!allowed.includes(name)) return `imports ${name}, which ${workspace} may not`;
    const subpath = `.${specifier.slice(name.length)}`;
    if (!Object.hasOwn(owner.exports ?? {}, subpath)) return `imports ${specifier}, which ${name} does not export`;
    if (FOR_TESTS.includes(name)) return undefined;
  }
  const declared = { ...own.dependencies, ...own.peerDependencies, ...own.optionalDependencies };
  // Tools, tests and configurations run in the workspace and have its devDependencies.
  const besides = { ...own.devDependencies, ...manifests.get('.')?.devDependencies };
  const isPublished = workspace !== 'tools' && !isTest(path) && path.startsWith(`${workspace}/src/`);
  if (Object.hasOwn(isPublished ? declared : { ...declared, ...besides }, name)) return undefined;
  return `imports ${name}, which ${workspace}/package.json does not declare`;
}

/** Whether a source file imports an index that only lists exports of other files. Lists may list each other. */
function isOfList(root, path, specifier) {
  if (!specifier.endsWith('/index.ts') || isTest(path) || path.endsWith('/index.ts')) return false;
  const text = readFileSync(join(root, targetOf(path, specifier)), 'utf8').replace(COMMENT, '');
  return text.replace(LISTED, '').trim() === '';
}

const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;
const LISTED = /export\s+(?:type\s+)?\{[^}]*\}\s+from\s+'[^']+';/g;

function unknownWorkspaces(root) {
  const parents = ['packages', 'examples'].filter((parent) => existsSync(join(root, parent)));
  return parents
    .flatMap((parent) => readdirSync(join(root, parent)).map((name) => `${parent}/${name}`))
    .filter((folder) => existsSync(join(root, folder, 'package.json')) && !Object.hasOwn(WORKSPACES, folder))
    .map((folder) => `${folder} is a workspace that tools/import-rules.mjs does not know`);
}

/**
 * One sentence for each cycle, named once however many of its members it can be entered by.
 *
 * @param {ReadonlyMap<string, readonly string[]>} graph from each member to those that it imports
 */
export function cyclesIn(graph) {
  const cycles = [];
  const done = new Set();
  const walk = (path, trail) => {
    const start = trail.indexOf(path);
    if (start >= 0) cycles.push(`${[...trail.slice(start), path].join(' → ')} is a cycle`);
    if (start >= 0 || done.has(path)) return;
    for (const target of graph.get(path) ?? []) walk(target, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) walk(path, []);
  return cycles;
}

/** The file itself, and its folders below the workspace. */
function drawersIn(path) {
  const names = path
    .slice(workspaceOf(path).length + 1)
    .split('/')
    .map((name) => name.split('.')[0]);
  return names
    .filter((name) => DRAWERS.includes(name))
    .map((name) => `${path} is a drawer: "${name}" does not say what is in it`);
}

function roomOf(path) {
  if (!isIn(path, ROOMS.folder) || isTest(path)) return undefined;
  const inside = path.slice(ROOMS.folder.length + 1);
  const named = Object.keys(ROOMS.mayImport).filter((room) => isIn(inside, room));
  return named.sort((one, other) => other.length - one.length)[0] ?? inside.split('/')[0];
}

function workspaceOf(path) {
  return Object.keys(WORKSPACES).find((folder) => isIn(path, folder));
}

function isIn(path, folder) {
  return path === folder || path.startsWith(`${folder}/`);
}

function isTest(path) {
  return path.endsWith('.test.ts') || /^[^/]+\/[^/]+\/test\//.test(path);
}

function isRelative(specifier) {
  return specifier.startsWith('.');
}

function targetOf(path, specifier) {
  return posix.join(posix.dirname(path), specifier);
}

function packageNameOf(specifier) {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function readManifests(root) {
  const folders = ['.', ...Object.keys(WORKSPACES)].filter((folder) => existsSync(join(root, folder, 'package.json')));
  return new Map(
    folders.map((folder) => [folder, JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))]),
  );
}

/** Paths with forward slashes, relative to the root. Folders of installed packages and of builds are left out. */
function filesBelow(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (!entry.isDirectory()) return [path];
    // Templates are copies of projects that are no workspaces.
    return ['node_modules', 'dist', 'templates'].includes(entry.name) ? [] : filesBelow(root, path);
  });
}

function main() {
  const problems = checkImports(fileURLToPath(new URL('..', import.meta.url)));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) exit(1);
  console.log('Imports keep the rules.');
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) main();
