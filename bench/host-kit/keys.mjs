import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { authenticator } from '@svc/auth';
import { apiKeyLane, mintApiKey } from '@svc/auth/api-key';
import { storedKeys } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { postgresStore } from '@svc/host-kit/stores/postgres';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { startPostgres } from '../../tools/postgres.ts';
import { printTable, rate } from '../table.mjs';

const COUNTS = [100_000, 1_000_000];
const PRESENTED = 10_000;
const AT_ONCE = 64;
const BATCH = 2000;
const IMPORTERS = 4;
const ROUND_MS = 2000;
const LONGEST_IMPORT_S = 300;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

/**
 * Measures stores with 100 000 and 1 000 000 API keys: the time to import them, the memory that they take in the process,
 * and the checks of a key per second: the first of each key, which asks the store, and later ones, from memory. 10 000 of
 * the keys are presented, 64 at a time. A store whose last import says that the next one takes over 5 minutes is left out
 * of it.
 */
export default async function keys({ counts = COUNTS, only } = {}) {
  const postgres = await startPostgres({ flushes: true });
  const folder = mkdtempSync(join(tmpdir(), 'svc-keys-'));
  const found = [];
  try {
    for (const count of counts) {
      const stores = {
        memory: () => memoryStore(),
        SQLite: () => sqliteStore(join(folder, `${count}.db`)),
        PostgreSQL: () => postgresStore({ url: postgres.url, schema: `keys_${count}` }),
      };
      for (const [name, open] of Object.entries(stores)) {
        if (only !== undefined && !only.includes(name)) continue;
        const seconds = expected(found, name, count);
        if (seconds > LONGEST_IMPORT_S) {
          console.log(`${name}: ${count} keys are left out, because their import would take ${seconds.toFixed(0)} s.`);
          continue;
        }
        found.push(await measured(name, open, count));
      }
    }
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  printTable(
    ['store', 'keys', 'import s', 'memory MB', 'first check per second', 'later checks per second'],
    found.map(({ name, count, importSeconds, megabytes, first, later }) => [
      ...[name, count, importSeconds.toFixed(1), megabytes.toFixed(0), rate(first), rate(later)],
    ]),
  );
  return { found };
}

/** The seconds of an import at the speed of the last one of the same store. */
function expected(found, name, count) {
  const last = found.findLast((each) => each.name === name);
  return last === undefined ? 0 : (last.importSeconds * count) / last.count;
}

async function measured(name, open, count) {
  const before = heapInUse();
  const store = await open();
  const presented = [];
  const began = performance.now();
  let next = 0;
  const importer = async () => {
    for (let start = next; start < count; start = next) {
      next += BATCH;
      await store.transaction(async (transaction) => {
        for (let index = start; index < Math.min(count, start + BATCH); index += 1) {
          const { key, hash } = mintApiKey({ mode: 'live', randomBytes });
          if (index % (count / PRESENTED) === 0) presented.push(`Bearer ${key}`);
          await store.apiKeys.add(recordOf(index, hash), transaction);
        }
      });
    }
  };
  await Promise.all(Array.from({ length: IMPORTERS }, importer));
  const importSeconds = (performance.now() - began) / 1000;
  const megabytes = (heapInUse() - before) / 1e6;

  const stored = storedKeys({ store });
  const stop = await follow(stored, store);
  const auth = authenticator({ lanes: [apiKeyLane({ keys: stored })] });
  const first = await perSecond(auth, presented, 1);
  const later = await perSecond(auth, presented, Number.POSITIVE_INFINITY);
  await stop();
  await store.close();
  return { name, count, importSeconds, megabytes, first, later };
}

function heapInUse() {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function recordOf(index, hash) {
  return {
    id: `key_${String(index).padStart(8, '0')}`,
    name: 'k',
    prefix: 'svc_live_',
    hash,
    tenant: `t_${index % 100}`,
    workspaces: 'all',
    principal: `p_${index % 10_000}`,
    scopes: ['runs:read'],
    mode: 'live',
    metadata: {},
    createdAt: 1_780_000_000_000,
    source: 'operation',
  };
}

/** Follows the feed of a shared store, as a host does: without its lease, nothing is answered from memory. */
async function follow(stored, store) {
  const clock = {
    now: Date.now,
    monotonic: () => performance.now(),
    after(ms, work) {
      const timer = setTimeout(work, ms);
      return () => clearTimeout(timer);
    },
  };
  await stored.begin({ store, clock, storeClock: clock, recordAudit: async () => {}, log() {} });
  // The first lease is asked for in the background.
  await new Promise((resolve) => setTimeout(resolve, 500));
  return () => stored.end();
}

/** Presents the keys in turns: each `turns` times, or for two seconds. */
async function perSecond(auth, presented, turns) {
  const began = performance.now();
  const most = presented.length * turns;
  let next = 0;
  const worker = async () => {
    while (next < most && (next < presented.length || performance.now() - began < ROUND_MS)) {
      const authorization = presented[next++ % presented.length];
      const outcome = await auth.authenticate({ headers: { authorization } });
      if (outcome.kind !== 'authenticated') throw new Error('The API key was rejected.');
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return (next / (performance.now() - began)) * 1000;
}
