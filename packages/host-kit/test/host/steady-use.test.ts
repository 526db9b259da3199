import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { afterAll, expect, test } from 'vitest';
import { steadyUse } from './steady-use.ts';

const DAY_MS = 86_400_000;
const RUN_DAYS = 28;
const WEEKS = 52;
const RUNS_PER_WEEK = 20;
/** Every table that grows with the use of a host. */
const TABLES = [
  ...['runs', 'events', 'artifacts', 'effects', 'effect_uses', 'deliveries', 'attempts'],
  ...['idempotency_keys', 'audit_entries', 'audit_checkpoints', 'removed_runs', 'removed_positions'],
  ...['audit_tree', 'audit_notes', 'audit_postings', 'delivery_minutes'],
];

const folder = mkdtempSync(join(tmpdir(), 'svc-steady-use-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Sample {
  /** Of the database. */
  readonly bytes: number;
  /** Of its log. */
  readonly logBytes: number;
  readonly rows: Readonly<Record<string, number>>;
}

async function samplesOf(
  name: string,
  weeks: number,
  retention?: { runDays: number; auditDays: number; effectDays: number },
) {
  const path = join(folder, name);
  const store = sqliteStore(path);
  const database = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
  const count = (sql: string, ...values: (number | string)[]) => Number(database.prepare(sql).get(...values)?.count);
  const samples: Sample[] = [];
  const isRemoved = async (now: number) => {
    const isSwept = count('SELECT count(*) AS count FROM idempotency_keys WHERE expires_at <= ?', now) === 0;
    if (retention === undefined) return isSwept;
    const runsBefore = now - retention.runDays * DAY_MS;
    const auditBefore = new Date(now - (retention.auditDays + 7) * DAY_MS).toISOString();
    return (
      isSwept &&
      count('SELECT count(*) AS count FROM runs WHERE completed_at < ?', runsBefore) === 0 &&
      count('SELECT count(*) AS count FROM removed_runs') === 0 &&
      count('SELECT count(*) AS count FROM effects WHERE at < ?', now - retention.effectDays * DAY_MS) === 0 &&
      count('SELECT count(*) AS count FROM audit_entries WHERE occurred_at < ?', auditBefore) <= 1 &&
      count('SELECT count(*) AS count FROM audit_entries WHERE at_sequence < (SELECT at_sequence FROM audit_start)') ===
        0
    );
  };
  const faults = await steadyUse({
    ...{ store, isRemoved, periods: weeks, periodDays: 7, runsPerPeriod: RUNS_PER_WEEK },
    ...(retention && { retention }),
    async sample() {
      const rows = TABLES.map((table) => [table, count(`SELECT count(*) AS count FROM ${table}`)] as const);
      samples.push({
        bytes: count('SELECT page_count * page_size AS count FROM pragma_page_count, pragma_page_size'),
        logBytes: statSync(`${path}-wal`).size,
        rows: Object.fromEntries(rows),
      });
    },
  });
  database.close();
  return { samples, faults };
}

const most = (samples: readonly Sample[], of: (sample: Sample) => number) => Math.max(...samples.map(of));

test('a year of steady use with retention does not grow a host', async () => {
  const { samples, faults } = await samplesOf('year.db', WEEKS, {
    runDays: RUN_DAYS,
    auditDays: RUN_DAYS,
    effectDays: 14,
  });
  expect(faults).toEqual([]);
  expect(samples.length).toBe(WEEKS);
  // After ten weeks every time of retention has passed. Records of one week may be removed a little later than others.
  const [first, rest] = [samples.slice(0, 10), samples.slice(10)];
  for (const table of TABLES) {
    const rows = (sample: Sample) => sample.rows[table] ?? 0;
    expect(most(rest, rows), table).toBeLessThanOrEqual(most(first, rows) + RUNS_PER_WEEK);
  }
  expect(most(rest, ({ bytes }) => bytes)).toBeLessThanOrEqual(most(first, ({ bytes }) => bytes) * 1.25);
  expect(most(samples, ({ logBytes }) => logBytes)).toBeLessThanOrEqual(96 * 1024 * 1024);
  expect(samples.at(-1)?.rows.runs).toBeLessThanOrEqual((RUN_DAYS / 7 + 1) * RUNS_PER_WEEK);
}, 180_000);

test('without retention, runs and the audit log are kept', async () => {
  const { samples } = await samplesOf('kept.db', 12);
  expect(samples.at(-1)?.rows.runs).toBe(12 * RUNS_PER_WEEK);
  expect(samples.at(-1)?.rows.audit_entries).toBeGreaterThan(12 * RUNS_PER_WEEK);
}, 180_000);
