/**
 * Holds the built entries to `entries.mjs`, and their sizes to `entry-sizes.json`: `node tools/check-entries.mjs`, after a build.
 * `--sizes` prints every size, and `--write` writes the sizes of the entries that grew or shrank by more than the check allows.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { argv, execPath, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { ENTRIES } from './entries.mjs';
import { bundle } from './entry-bundle.mjs';

/**
 * @param {string} root a checkout that is built
 * @param {readonly Entry[]} entries
 * @param {Readonly<Record<string, number>>} sizes the accepted sizes by entry, in thousand bytes, minified and gzipped with everything
 *   that an entry imports except Node's own modules; a neutral entry is measured as a browser gets it
 * @returns {Promise<{ problems: string[], measures: Measure[] }>}
 *
 * @typedef {{ name: string, runtime: 'neutral' | 'node', promised?: number, without?: readonly string[] }} Entry
 * @typedef {{ name: string, kB: number, importMs: number }} Measure
 */
export async function checkEntries(root, entries, sizes) {
  const problems = differences(entries, exportedBy(root));
  const measures = [];
  if (problems.length > 0) return { problems, measures };
  for (const entry of entries) {
    try {
      const { found, measure } = await judge(root, entry, sizes[entry.name]);
      problems.push(...found.map((sentence) => `${entry.name} ${sentence}`));
      measures.push({ name: entry.name, ...measure });
    } catch (error) {
      problems.push(`${entry.name} cannot be bundled: ${error.message}`);
    }
  }
  return { problems, measures };
}

async function judge(root, entry, accepted) {
  const found = [];
  const { kB, builtins } = await bundle(root, entry);
  if (entry.runtime === 'neutral')
    found.push(...builtins.map(({ name, by }) => `is neutral, but ${by} imports ${name}`));
  if (kB > (entry.promised ?? Number.POSITIVE_INFINITY))
    found.push(`has ${kB} kB, more than the ${entry.promised} kB that users are promised`);
  if (accepted === undefined) found.push(`has no accepted size. ${ACCEPT}`);
  else if (kB > accepted + airOf(accepted)) found.push(`has grown from ${accepted} to ${kB} kB. ${ACCEPT}`);
  const imported = importTime(root, entry);
  if (imported.failure !== undefined) found.push(`does not import: ${imported.failure}`);
  return { found, measure: { kB, importMs: imported.ms } };
}

const ACCEPT = 'If that is meant, run `node tools/check-entries.mjs --write`.';

/** The growth that needs no decision, in kB: two changes that each add a little do not break each other. */
function airOf(accepted) {
  return Math.max(accepted * 0.03, 0.1);
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

const DEADLINE_MS = 60_000;

/** In a process of its own, which must also come to its end: an import leaves nothing running. */
export function importTime(root, { name }, deadlineMs = DEADLINE_MS) {
  const program = `const at = performance.now(); await import(${JSON.stringify(name)}); console.log(performance.now() - at);`;
  const options = { cwd: root, encoding: 'utf8', timeout: deadlineMs };
  const { status, signal, error, stdout, stderr } = spawnSync(
    execPath,
    ['--input-type=module', '--eval', program],
    options,
  );
  if (error?.code === 'ETIMEDOUT') return { failure: `the process was still running after ${deadlineMs} ms` };
  if (status === null) return { failure: `${signal} ended the process. ${stderr}`.trim() };
  if (status !== 0) return { failure: stderr.trim() };
  return { ms: Math.round(Number(stdout) * 10) / 10 };
}

async function main() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const file = join(root, 'tools/entry-sizes.json');
  const sizes = JSON.parse(readFileSync(file, 'utf8'));
  if (argv.includes('--write')) return write(file, sizes, await measured(root));
  const { problems, measures } = await checkEntries(root, ENTRIES, sizes);
  if (argv.includes('--sizes')) {
    for (const { name, kB, importMs } of measures)
      console.log(`${name.padEnd(30)} ${kB.toFixed(2).padStart(8)} kB ${importMs} ms`);
  }
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) exit(1);
  console.log(`${measures.length} entries are listed, import, and have their accepted sizes.`);
}

async function measured(root) {
  const sizes = [];
  for (const entry of ENTRIES) sizes.push([entry.name, (await bundle(root, entry)).kB]);
  return sizes;
}

/** Keeps the sizes that are near enough, so that two changes rarely touch the same line. */
function write(file, accepted, found) {
  const isNear = (name, kB) => name in accepted && Math.abs(kB - accepted[name]) <= airOf(accepted[name]);
  const sizes = found.map(([name, kB]) => [name, isNear(name, kB) ? accepted[name] : kB]);
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(sizes), null, 2)}\n`);
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) await main();
