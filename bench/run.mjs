/**
 * `npm run bench` runs every benchmark, `npm run bench -- NAME …` only the named ones. Figures of one benchmark are
 * comparable, because its candidates take turns. Each benchmark also writes its figures as JSON to `bench/results`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { argv, exit, platform, version } from 'node:process';
import { BENCHMARKS } from './benchmarks.mjs';

const asked = argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(BENCHMARKS, name));
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
mkdirSync(results, { recursive: true });
for (const name of asked.length > 0 ? asked : Object.keys(BENCHMARKS)) {
  console.log(`\n── ${name} ──`);
  const measured = await BENCHMARKS[name]();
  const at = new Date().toISOString();
  writeFileSync(
    new URL(`${name}.json`, results),
    `${JSON.stringify({ name, at, machine, ...measured }, undefined, 2)}\n`,
  );
}
