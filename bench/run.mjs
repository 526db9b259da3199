/**
 * `npm run bench` runs every benchmark, `npm run bench -- NAME …` only the named ones. Figures of one benchmark are
 * comparable, because its candidates take turns. `npm run bench -- compare REV` says what moved since a revision. The figures
 * of each are also written as JSON to `bench/results`, and to a folder of the commit there.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { argv, exit, platform, version } from 'node:process';
import { BENCHMARKS } from './benchmarks.mjs';
import { compare } from './compare.mjs';

const [first, revision, store = 'sqlite'] = argv.slice(2);
const isComparison = first === 'compare';
if (isComparison && revision === undefined) {
  console.error('compare: has no revision. Name one: npm run bench -- compare HEAD~1.');
  exit(2);
}
if (isComparison && !['sqlite', 'postgres'].includes(store)) {
  console.error(`compare: knows no store ${store}. Name sqlite or postgres.`);
  exit(2);
}
const asked = isComparison ? ['compare'] : argv.slice(2);
const known = isComparison ? { compare: () => compare(revision, store) } : BENCHMARKS;
const unknown = asked.filter((name) => !Object.hasOwn(known, name));
if (unknown.length > 0) {
  console.error(`Unknown benchmark: ${unknown.join(', ')}. Choose from ${Object.keys(BENCHMARKS).join(', ')}.`);
  exit(2);
}

const machine = {
  cpu: `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  platform,
  node: version,
};
console.log(`${machine.cpu}, ${machine.memoryGiB} GiB, ${platform}, Node ${version}`);

const results = new URL('./results/', import.meta.url);
const ofCommit = new URL(`${commit()}/`, results);
mkdirSync(ofCommit, { recursive: true });
for (const name of asked.length > 0 ? asked : Object.keys(BENCHMARKS)) {
  console.log(`\n── ${name} ──`);
  const measured = await known[name]();
  const at = new Date().toISOString();
  const text = `${JSON.stringify({ name, at, machine, ...measured }, undefined, 2)}\n`;
  for (const folder of [results, ofCommit]) writeFileSync(new URL(`${name}.json`, folder), text);
}

/** Returns the name of the commit, with a mark when the working tree differs from it. */
function commit() {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty', '--exclude=*'], { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown-commit';
  }
}
