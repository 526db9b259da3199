/**
 * Checks that no page, docstring or message tells a command that others could own: `node tools/check-commands.mjs`.
 * `npx svc-webhook` asks the registry for a package of that name, which is not ours; `npx -p @svc/webhook-verify
 * svc-webhook` asks for ours.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { publishedPackages } from './release/workspaces.mjs';

/** The ways to run or install a package by its name, up to the end of the command. */
const RUNNERS =
  /\b(?:npx|bunx|npm (?:exec|create|init|x|i|install|add)|(?:pnpm|yarn|bun) (?:dlx|exec|x|create|add))((?:[ \t]+[^\s`'"|;&)]+)+)/g;

/**
 * @param {readonly { path: string, text: string }[]} files
 * @param {ReadonlyMap<string, string>} owners the package of each command
 * @returns {string[]} one sentence for each command that names a package outside of our scope
 */
export function commandProblems(files, owners) {
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) =>
      [...line.matchAll(RUNNERS)].flatMap(([command, words]) => {
        const problem = problemOf(words.trim().split(/\s+/), owners);
        return problem === undefined ? [] : [`${path}:${index + 1} \`${command.trim()}\` ${problem}`];
      }),
    ),
  );
}

function problemOf(words, owners) {
  const named = words.flatMap((word, index) => {
    if (word === '-p' || word === '--package') return [words[index + 1] ?? ''];
    return word.startsWith('--package=') ? [word.slice('--package='.length)] : [];
  });
  const packages = named.map((name) => name.replace(/(?<=.)@[^/]*$/, ''));
  const bare = words.find((word) => owners.has(word) || /^svc(?:-[a-z]+)+$/.test(word));
  if (bare !== undefined && packages.length === 0) {
    return `asks for a package ${bare}, which is not ours. Write \`npx -p ${owners.get(bare) ?? '@svc/…'} ${bare}\`.`;
  }
  if (bare !== undefined && !packages.includes(owners.get(bare))) {
    return `names a package without the command ${bare}. It is in ${owners.get(bare) ?? 'none of ours'}.`;
  }
  return undefined;
}

/** Returns the package of each command. */
function commandOwners(root) {
  const commands = publishedPackages(root).flatMap(({ manifest }) =>
    Object.keys(manifest.bin ?? {}).map((command) => [command, manifest.name]),
  );
  return new Map(commands);
}

/** The check and its test show wrong commands on purpose. */
const LEFT_OUT = /^tools\/check-commands\.|^docs\/reference\/|CHANGELOG\.md$/;

function main() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  const paths = listed
    .split('\n')
    .filter((path) => /\.(md|ts|tsx|mjs|js|json|yml|sh|html)$/.test(path) && !LEFT_OUT.test(path));
  const files = paths
    .filter((path) => existsSync(join(root, path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
  const problems = commandProblems(files, commandOwners(root));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) exit(1);
  console.log('Every command that a page tells is of a package of ours.');
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) main();
