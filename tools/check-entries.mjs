/**
 * Holds the built entries to `entries.mjs`: `node tools/check-entries.mjs`, after a build; `--sizes` prints every size.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { argv, execPath, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { ENTRIES } from './entries.mjs';
import { bundle } from './entry-bundle.mjs';

/**
 * @param {string} root a checkout that is built
 * @param {readonly Entry[]} entries
 * @returns {Promise<{ problems: string[], measures: Measure[] }>}
 *
 * @typedef {{ name: string, runtime: 'neutral' | 'node', kB: number, without?: readonly string[] }} Entry
 * @typedef {{ name: string, kB: number, importMs: number }} Measure
 */
export async function checkEntries(root, entries) {
  const problems = differences(entries, exportedBy(root));
  const measures = [];
  if (problems.length > 0) return { problems, measures };
  for (const entry of entries) {
    try {
      const { found, measure } = await judge(root, entry);
      problems.push(...found.map((sentence) => `${entry.name} ${sentence}`));
      measures.push({ name: entry.name, ...measure });
    } catch (error) {
      problems.push(`${entry.name} cannot be bundled: ${error.message}`);
    }
  }
  return { problems, measures };
}

async function judge(root, entry) {
  const found = [];
  const { kB, builtins } = await bundle(root, entry);
  if (entry.runtime === 'neutral')
    found.push(...builtins.map(({ name, by }) => `is neutral, but ${by} imports ${name}`));
  if (kB > entry.kB) found.push(`has ${kB} kB, over its budget of ${entry.kB} kB`);
  const imported = importTime(root, entry);
  if (imported.failure !== undefined) found.push(`does not import: ${imported.failure}`);
  return { found, measure: { kB, importMs: imported.ms } };
}

/** Entries that are exported and not listed, and entries that are listed and not exported. */
function differences(entries, exported) {
  const listed = new Set(entries.map(({ name }) => name));
  return [
    ...exported
      .filter((name) => !listed.has(name))
      .map((name) => `${name} is exported, and tools/entries.mjs does not list it`),
    ...[...listed]
      .filter((name) => !exported.includes(name))
      .map((name) => `${name} is in tools/entries.mjs, and nothing exports it`),
  ];
}

/** The entries of every package's `exports`, without JSON files. */
export function exportedBy(root) {
  return readdirSync(join(root, 'packages')).flatMap((folder) => {
    const { name, exports } = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'));
    // Data is no entry: it has no code to bundle.
    const subpaths = Object.keys(exports).filter((subpath) => !subpath.endsWith('.json'));
    return subpaths.map((subpath) => name + subpath.slice(1));
  });
}

const DEADLINE_MS = 10_000;

/** In a process of its own, which must also come to its end: an import leaves nothing running. */
function importTime(root, { name }) {
  const program = `const at = performance.now(); await import(${JSON.stringify(name)}); console.log(performance.now() - at);`;
  const options = { cwd: root, encoding: 'utf8', timeout: DEADLINE_MS };
  const { status, stdout, stderr } = spawnSync(execPath, ['--input-type=module', '--eval', program], options);
  if (status === null) return { failure: `the process was still running after ${DEADLINE_MS} ms` };
  if (status !== 0) return { failure: stderr.trim() };
  return { ms: Math.round(Number(stdout) * 10) / 10 };
}

async function main() {
  const { problems, measures } = await checkEntries(fileURLToPath(new URL('..', import.meta.url)), ENTRIES);
  if (argv.includes('--sizes')) {
    for (const { name, kB, importMs } of measures)
      console.log(`${name.padEnd(30)} ${kB.toFixed(2).padStart(8)} kB ${importMs} ms`);
  }
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) exit(1);
  console.log(`${measures.length} entries are listed, import, and are within their budgets.`);
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) await main();
