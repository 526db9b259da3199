/**
 * Checks that every place states the same two versions of Node: `node tools/check-node-versions.mjs`. The packages need
 * the version of their `engines`; the set-up of a checkout needs the version of the root's `engines`.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { LOWEST } from './bootstrap/pinned-node.mjs';
import { publishedPackages, readManifest } from './release/workspaces.mjs';

const STATED =
  /\bNode(?:\.js)? (\d+(?:\.\d+)*) or (?:later|newer|higher)|\b(?:requires|needs) (?:Node(?:\.js)? )?(\d\d(?:\.\d+)+)\b/g;

/** The pages about a checkout. The pages of the packages must not state what only a checkout needs. */
const OF_A_CHECKOUT = ['README.md', 'CONTRIBUTING.md', 'docs/releasing.md'];

/** Names both versions, for a reader who wants to know the difference. */
const BOTH = 'CONTRIBUTING.md';

/**
 * @param {readonly { path: string, text: string }[]} files
 * @param {{ ofPackages: string, ofCheckout: string }} lowest
 * @returns {string[]} one sentence for each statement that differs
 */
export function nodeVersionProblems(files, { ofPackages, ofCheckout }) {
  return files.flatMap(({ path, text }) => {
    const allowed = OF_A_CHECKOUT.includes(path) ? [ofPackages, ofCheckout] : [ofPackages];
    const stated = [...text.replace(/\s+/g, ' ').matchAll(STATED)].map(([, one, other]) => one ?? other);
    const missing = path === BOTH ? allowed.filter((version) => !stated.includes(version)) : [];
    return [
      ...stated
        .filter((version) => !allowed.includes(version))
        .map((version) => `${path} states Node ${version}. Here it is ${allowed.join(' or ')}.`),
      ...missing.map((version) => `${path} does not state Node ${version}.`),
    ];
  });
}

function manifestProblems(root, ofPackages) {
  const wrong = publishedPackages(root).filter(({ manifest }) => manifest.engines?.node !== `>=${ofPackages}`);
  return wrong.map(
    ({ folder }) => `${folder}/package.json: engines.node must be >=${ofPackages}, as the others have it.`,
  );
}

function main() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const ofPackages = LOWEST.join('.');
  const ofCheckout = readManifest(root, '.').engines.node.replace('>=', '');
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  const paths = listed
    .split('\n')
    .filter((path) => /\.(md|ts|mjs)$/.test(path) && !/^tools\/check-node|CHANGELOG\.md$/.test(path))
    .filter((path) => existsSync(join(root, path)));
  const files = paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
  const problems = [...manifestProblems(root, ofPackages), ...nodeVersionProblems(files, { ofPackages, ofCheckout })];
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) exit(1);
  console.log(
    `The packages need Node ${ofPackages}, the set-up of a checkout Node ${ofCheckout}, and every page says so.`,
  );
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) main();
