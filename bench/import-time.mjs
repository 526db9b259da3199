import { spawnSync } from 'node:child_process';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { ENTRIES } from '../tools/entries.mjs';
import { summary } from './alternate.mjs';
import { versionsOf } from './peer-versions.mjs';
import { printTable } from './table.mjs';

const PEERS = ['@octokit/webhooks-methods', 'standardwebhooks', 'svix', 'stripe'];
const ROUNDS = 11;

/**
 * Measures `await import(…)` of each entry in a new process, in ms: the median of rounds in which the entries take
 * turns.
 */
export default function importTime() {
  const versions = versionsOf(PEERS);
  const names = ['node:crypto', ...ENTRIES.map(({ name }) => name), ...PEERS];
  const times = new Map(names.map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1) for (const name of names) times.get(name).push(once(name));
  const modules = Object.fromEntries(
    names.map((name) => {
      const { perSecond: ms, spread } = summary(times.get(name));
      return [name, { ms, spread, shortest: Math.min(...times.get(name)) }];
    }),
  );
  printTable(
    ['import', 'median ms', 'shortest'],
    Object.entries(modules).map(([name, { ms, shortest }]) => [name, ms.toFixed(1), shortest.toFixed(1)]),
  );
  return { versions, modules };
}

function once(name) {
  const load = `await import(${JSON.stringify(name)});`;
  const program = `const at = performance.now(); ${load} console.log(performance.now() - at);`;
  const { stdout, stderr } = spawnSync(execPath, ['--input-type=module', '--eval', program], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    encoding: 'utf8',
    timeout: 10_000,
  });
  const ms = Number(stdout);
  if (stdout === '' || Number.isNaN(ms)) throw new Error(`${name} cannot be imported: ${stderr}`);
  return ms;
}
