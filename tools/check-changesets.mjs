/**
 * Checks that the waiting changesets can be released: `node tools/check-changesets.mjs`. Needs no history and no
 * remote.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';

const BUMPS = ['patch', 'minor', 'major'];

/**
 * @param {string} root a checkout
 * @returns {string[]} one sentence for each problem
 */
export function checkChangesets(root) {
  const published = manifestsIn(root, ['packages']).filter(isPublic).map(nameOf);
  const folder = join(root, '.changeset');
  const names = readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'README.md');
  return [
    ...configurationProblems(root, folder),
    ...names.flatMap((name) => {
      const problems = textProblems(readFileSync(join(folder, name), 'utf8'), published);
      return problems.map((problem) => `.changeset/${name} ${problem}`);
    }),
  ];
}

/** Finds private workspaces that the configuration of changesets does not ignore, so that they would be released. */
function configurationProblems(root, folder) {
  const { ignore = [] } = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  const hidden = workspaceManifests(root).filter((manifest) => !isPublic(manifest));
  return hidden
    .map(nameOf)
    .filter((name) => !ignore.includes(name))
    .map((name) => `.changeset/config.json does not ignore the private ${name}`);
}

function textProblems(text, published) {
  const [, head, body] = /^---\r?\n([\s\S]*?)\r?\n---\r?\n([\s\S]*)$/.exec(text) ?? [];
  if (head === undefined) return ['has no front matter. Begin with the packages that it releases'];
  const lines = head.split(/\r?\n/).filter((line) => line.trim() !== '');
  const problems = lines.flatMap((line) => {
    const [, , name, bump] = /^(['"]?)([^'"]+)\1:\s*(\w+)\s*$/.exec(line) ?? [];
    if (name === undefined) return [`has a line that does not name a release: ${line}`];
    if (!published.includes(name)) return [`releases ${name}, which is not published`];
    return BUMPS.includes(bump) ? [] : [`releases ${name} as ${bump}; there are ${BUMPS.join(', ')}`];
  });
  if (lines.length === 0) problems.push('releases nothing');
  if (body.trim() === '') problems.push('does not say what changes for users');
  return problems;
}

/** Returns the manifests of all workspaces, which are the packages that a release could include. */
function workspaceManifests(root) {
  const { workspaces = [] } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const parents = workspaces.filter((pattern) => pattern.endsWith('/*')).map((pattern) => pattern.slice(0, -2));
  const folders = workspaces.filter((pattern) => !pattern.endsWith('/*'));
  return [
    ...manifestsIn(root, parents),
    ...folders.map((folder) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))),
  ];
}

function manifestsIn(root, parents) {
  return parents
    .flatMap((parent) => readdirSync(join(root, parent)).map((name) => join(root, parent, name, 'package.json')))
    .filter(existsSync)
    .map((path) => JSON.parse(readFileSync(path, 'utf8')));
}

function isPublic({ private: isPrivate }) {
  return isPrivate !== true;
}

function nameOf({ name }) {
  return name;
}

function main() {
  const problems = checkChangesets(fileURLToPath(new URL('..', import.meta.url)));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) exit(1);
  console.log('The changesets can be released.');
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) main();
