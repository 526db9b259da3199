/**
 * `npm run mutate` changes the decision code of the packages, one small change at a time, and counts the changes that the
 * tests notice. `npm run mutate -- auth` or `npm run mutate -- packages/auth/src/scopes.ts` judges a package or a file, and
 * `--ci` the groups of files that every run of CI judges. `floors.json` has the least score of each file.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { argv, exit } from 'node:process';
import { parseArgs } from 'node:util';
import { rounded, scoreOf } from './score.mjs';
import { mutate } from './stryker.mjs';
import { copyOf } from './workspace.mjs';

const { values: options, positionals } = parseArgs({
  args: argv.slice(2),
  allowPositionals: true,
  options: { ci: { type: 'boolean', default: false }, concurrency: { type: 'string' } },
});
const concurrency = Number(options.concurrency ?? Math.min(availableParallelism(), 4));
if (!Number.isInteger(concurrency) || concurrency < 1)
  fail('--concurrency: must be a whole number from 1. Leave it out.');

const { groups } = JSON.parse(readFileSync(new URL('./floors.json', import.meta.url), 'utf8'));
const chosen = chosenOf(groups, positionals);
const { folder, remove } = copyOf(resolve('.'));
process.once('exit', remove);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => exit(2));
try {
  report(await scoresOf(chosen));
} catch (error) {
  fail(error.message);
}

/** Returns the groups with the files that were asked for, which is all of them by default. */
function chosenOf(groups, asked) {
  const isNamed = (name, path) => path === name || path.startsWith(`packages/${name}/`);
  const known = groups.flatMap(({ files }) => files.map(({ path }) => path));
  const unknown = asked.filter((name) => !known.some((path) => isNamed(name, path)));
  if (unknown.length > 0)
    fail(`No decision code: ${unknown.join(', ')}. Name a package, or one of\n${known.join('\n')}`);
  return groups
    .filter(({ ci = false }) => ci || !options.ci)
    .map((group) => ({
      ...group,
      files: group.files.filter(({ path }) => asked.length === 0 || asked.some((name) => isNamed(name, path))),
    }))
    .filter(({ files }) => files.length > 0);
}

async function scoresOf(groups) {
  const scores = [];
  for (const { files, tests } of groups) {
    const paths = files.map(({ path }) => path);
    const began = performance.now();
    const mutated = await mutate(folder, paths, tests, concurrency);
    scores.push(...files.map((file) => scoreOf(mutated[file.path] ?? { source: '', mutants: [] }, file)));
    console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${paths.join(', ')}`);
  }
  return scores;
}

/** Prints a row for each file, then the survivors and the problems. */
function report(scores) {
  console.log('\nmutants  killed  score  file');
  for (const { path, mutants, killed, score } of scores) {
    const cells = [String(mutants).padStart(7), String(killed).padStart(7), rounded(score).toFixed(3).padStart(6)];
    console.log(`${cells.join(' ')}  ${path}`);
  }
  const survivors = scores.flatMap(({ survivors }) => survivors);
  if (survivors.length > 0) console.log(`\nSurvivors:\n  ${survivors.join('\n  ')}`);
  const problems = scores.flatMap(({ problems }) => problems);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

function fail(message) {
  console.error(message);
  exit(2);
}
