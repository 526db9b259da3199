import { fileURLToPath } from 'node:url';
import { ENTRIES } from '../tools/entries.mjs';
import { bundle } from '../tools/entry-bundle.mjs';
import { versionsOf } from './peer-versions.mjs';
import { printTable } from './table.mjs';

const PEERS = ['@octokit/webhooks-methods', 'standardwebhooks', 'svix', 'stripe'];
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const HERE = fileURLToPath(new URL('.', import.meta.url));

/**
 * Measures each entry with everything that it imports, minified and gzipped, in kB, and prints it beside the size that users are promised.
 */
export default async function size() {
  const versions = versionsOf(PEERS);
  const entries = {};
  for (const entry of ENTRIES) {
    entries[entry.name] = { kB: (await bundle(ROOT, entry)).kB, promised: entry.promised };
  }
  for (const name of PEERS) entries[name] = { kB: (await bundle(HERE, { name, runtime: 'node' })).kB };
  printTable(
    ['min+gzip', 'kB', 'promised'],
    Object.entries(entries).map(([name, { kB, promised }]) => [
      versions[name] === undefined ? name : `${name} ${versions[name]}, as Node gets it`,
      kB.toFixed(2),
      promised ?? '',
    ]),
  );
  return { versions, entries };
}
