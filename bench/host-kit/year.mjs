import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { postgresStore } from '@svc/host-kit/stores/postgres';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import pg from 'pg';
import { steadyUse } from '../../packages/host-kit/test/host/steady-use.ts';
import { startPostgres } from '../../tools/postgres.ts';
import { printTable } from '../table.mjs';

const WEEKS = 52;
const RUNS_PER_WEEK = Number(process.env.SVC_YEAR_RUNS_PER_WEEK ?? 140);
const RETENTION = { runDays: 30, auditDays: 90, effectDays: 30 };
const DAY_MS = 86_400_000;
/** The size at the end of the year, relative to that at its middle. Without retention it is two. */
const GOAL = 1.05;

/**
 * Measures the size of a database during a year of steady use, with retention and without: 20 runs a day with events, an
 * artifact, an effect, an idempotency key, a delivery and audit entries.
 */
export default async function year() {
  const folder = mkdtempSync(join(tmpdir(), 'svc-year-'));
  const postgres = await startPostgres({ flushes: true });
  const found = {};
  try {
    for (const [name, retention] of Object.entries({ 'with retention': RETENTION, 'for ever': undefined })) {
      found[`SQLite, ${name}`] = await measure(sqlitePlace(join(folder, `${Object.keys(found).length}.db`)), retention);
      found[`PostgreSQL, ${name}`] = await measure(
        await postgresPlace(postgres.url, `year_${Object.keys(found).length}`),
        retention,
      );
    }
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  const weeks = [4, 13, 26, 39, 52];
  printTable(
    ['size in MB after', ...weeks.map((week) => `${week} weeks`), '52 / 26', 'goal'],
    Object.entries(found).map(([name, sizes]) => [
      name,
      ...weeks.map((week) => (sizes[week - 1] / 1e6).toFixed(2)),
      (sizes[51] / sizes[25]).toFixed(2),
      name.endsWith('retention') ? GOAL : '',
    ]),
  );
  return { weeks: WEEKS, runsPerWeek: RUNS_PER_WEEK, retention: RETENTION, found };
}

async function measure({ store, bytes, oldest, close }, retention) {
  const sizes = [];
  const faults = await steadyUse({
    store,
    periods: WEEKS,
    periodDays: 7,
    runsPerPeriod: RUNS_PER_WEEK,
    ...(retention && { retention }),
    isRemoved: async (now) => retention === undefined || (await oldest()) >= now - retention.runDays * DAY_MS,
    sample: async () => void sizes.push(await bytes()),
  });
  if (faults.length > 0) throw new Error(`The host logged a fault: ${JSON.stringify(faults[0])}`);
  await close();
  return sizes;
}

function sqlitePlace(path) {
  const store = sqliteStore(path);
  const database = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
  return {
    store,
    bytes: async () => statSync(path).size,
    async oldest() {
      const { left, first } = database
        .prepare('SELECT (SELECT count(*) FROM removed_runs) AS left, (SELECT min(completed_at) FROM runs) AS first')
        .get();
      return left > 0 ? 0 : (first ?? Number.POSITIVE_INFINITY);
    },
    close: async () => database.close(),
  };
}

async function postgresPlace(url, schema) {
  // Without the time of the database, which does not run fast.
  const { time: _time, ...store } = await postgresStore({ url, schema, connections: 10 });
  const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` });
  client.on('error', () => {});
  await client.connect();
  return {
    store,
    async bytes() {
      // In a year, autovacuum has the time that this fast year does not give it.
      await client.query('VACUUM');
      const { rows } = await client.query(
        `SELECT sum(pg_total_relation_size(c.oid)) AS bytes FROM pg_class c WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r'`,
        [schema],
      );
      return Number(rows[0].bytes);
    },
    async oldest() {
      const { rows } = await client.query(
        'SELECT (SELECT count(*) FROM removed_runs) AS left, (SELECT min(completed_at) FROM runs) AS first',
      );
      return Number(rows[0].left) > 0 ? 0 : Number(rows[0].first ?? Number.POSITIVE_INFINITY);
    },
    close: () => client.end(),
  };
}
