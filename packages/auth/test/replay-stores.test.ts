import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { memoryReplayStore } from '@svc/auth/dpop';
import { postgresReplayStore } from '@svc/auth/dpop/postgres';
import { sqliteReplayStore } from '@svc/auth/dpop/sqlite';
import { type PostgresServer, startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OpenReplayStore, proofId, replayContract } from './replay-contract.ts';

let postgres: PostgresServer;
let pool: pg.Pool;
const folder = mkdtempSync(join(tmpdir(), 'svc-replays-'));
const opened: { close(): void }[] = [];
let stores = 0;

beforeAll(async () => {
  postgres = await startPostgres();
  pool = new pg.Pool({ connectionString: postgres.url });
  pool.on('error', () => {});
});
afterAll(async () => {
  for (const store of opened) store.close();
  await pool.end();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

const openMemory: OpenReplayStore = async (options) => memoryReplayStore(options);
const openSqlite: OpenReplayStore = async (options) => {
  stores += 1;
  const store = sqliteReplayStore(join(folder, `contract-${stores}.db`), options);
  opened.push(store);
  return store;
};
const openPostgres: OpenReplayStore = async (options) => {
  stores += 1;
  const store = postgresReplayStore(pool, { ...options, table: `proofs_${stores}`, timeoutMs: 60_000 });
  await store.migrate();
  return store;
};

describe('memoryReplayStore', () => replayContract(openMemory));
describe('sqliteReplayStore', () => replayContract(openSqlite));
describe('postgresReplayStore', () => replayContract(openPostgres));

/** Starts a process that presents 20 proofs, each 50 times at once, when it is told to. */
async function claimant(place: string, ending = '') {
  const file = fileURLToPath(new URL('./replay-claimant.mjs', import.meta.url));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', file, place, ending], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  return async (): Promise<readonly string[]> => {
    child.stdin.write('go\n');
    const { value } = await lines.next();
    await ended;
    return JSON.parse(value ?? '');
  };
}

describe.each([
  ['a SQLite file', () => join(folder, 'shared.db')],
  ['a PostgreSQL', () => postgres.url],
])('processes that share %s', (_, placeOf) => {
  test('accept each proof once, also across kill -9', async () => {
    const place = placeOf();
    const starts = await Promise.all([claimant(place, 'die'), claimant(place, 'die')]);
    const answers = (await Promise.all(starts.map((start) => start()))).flat();
    expect(answers).toHaveLength(2000);
    expect(answers.filter((answer) => answer === 'fresh')).toHaveLength(20);
    expect(answers.filter((answer) => answer === 'seen')).toHaveLength(1980);
    const restarted = await claimant(place);
    expect(new Set(await restarted())).toEqual(new Set(['seen']));
  });
});

describe('sqliteReplayStore', () => {
  const options = { now: () => 1_800_000_000_000, monotonic: () => 0 };
  const later = 1_800_000_060_000;

  test('waits for the lock of another process without blocking', async () => {
    const path = join(folder, 'locked.db');
    const store = sqliteReplayStore(path, options);
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    const claimed = store.claim(proofId('a'), later);
    // The event loop turns while the claim waits.
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    other.exec('COMMIT');
    expect(await claimed).toBe('fresh');
    other.close();
    store.close();
  });

  test('rejects, and accepts nothing, while another process does not give the lock back', async () => {
    const path = join(folder, 'stuck.db');
    const store = sqliteReplayStore(path, options);
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    await expect(store.claim(proofId('a'), later)).rejects.toThrow(/locked/);
    other.exec('ROLLBACK');
    expect(await store.claim(proofId('a'), later)).toBe('fresh');
    other.close();
    store.close();
  });

  test('counts the proofs of an earlier process against its room', async () => {
    const path = join(folder, 'full.db');
    const first = sqliteReplayStore(path, { ...options, maxEntries: 2 });
    expect(await first.claim(proofId('a'), later)).toBe('fresh');
    expect(await first.claim(proofId('b'), later)).toBe('fresh');
    first.close();
    const second = sqliteReplayStore(path, { ...options, maxEntries: 2 });
    expect(await second.claim(proofId('c'), later)).toBe('full');
    expect(await second.claim(proofId('b'), later)).toBe('seen');
    second.close();
  });

  test('leaves a database of the application open, and rejects claims after its end', async () => {
    const db = new DatabaseSync(':memory:');
    const store = sqliteReplayStore(db, options);
    await store.claim(proofId('a'), later);
    const waiting = store.claim(proofId('b'), later);
    store.close();
    await expect(waiting).rejects.toThrow(/closed/);
    await expect(store.claim(proofId('c'), later)).rejects.toThrow(/closed/);
    expect(db.prepare('SELECT count(*) AS count FROM svc_dpop_proofs').get()).toEqual({ count: 1 });
    db.close();
  });

  test('throws for a file that is no database', () => {
    const path = join(folder, 'text.db');
    writeFileSync(path, 'no database '.repeat(100));
    expect(() => sqliteReplayStore(path, options)).toThrow(/not a database/);
  });

  test('removes expired rows in steps', async () => {
    let now = 1_800_000_000_000;
    const db = new DatabaseSync(':memory:');
    const store = sqliteReplayStore(db, { now: () => now, monotonic: () => now });
    for (let turn = 0; turn < 2000; turn++) {
      now += 100;
      await store.claim(proofId(turn), now + 1000);
    }
    // Those of the last 31 s at most.
    expect(Number(db.prepare('SELECT count(*) AS count FROM svc_dpop_proofs').get()?.count)).toBeLessThan(330);
    db.close();
  });
});

describe('postgresReplayStore', () => {
  const options = { now: () => 1_800_000_000_000, monotonic: () => 0 };
  const later = 1_800_000_060_000;

  test('creates one table when hosts migrate at once, also in a schema', async () => {
    await pool.query('CREATE SCHEMA hosts');
    const store = () => postgresReplayStore(pool, { ...options, table: 'hosts.proofs' });
    await Promise.all(Array.from({ length: 8 }, () => store().migrate()));
    expect(await store().claim(proofId('a'), later)).toBe('fresh');
  });

  test('accepts each proof in one of many stores that claim the same ones in other orders', async () => {
    const table = 'proofs_crossing';
    const hosts = Array.from({ length: 4 }, () => postgresReplayStore(pool, { ...options, table, timeoutMs: 60_000 }));
    await hosts[0]?.migrate();
    const names = Array.from({ length: 300 }, (_, name) => name);
    const orders = [names, names.toReversed(), names.toSorted(() => 1), [...names.slice(150), ...names.slice(0, 150)]];
    const answers = await Promise.all(
      hosts.flatMap((host, at) => (orders[at] ?? names).map((name) => host.claim(proofId(name), later))),
    );
    expect(answers.filter((answer) => answer === 'fresh')).toHaveLength(300);
    expect(answers.filter((answer) => answer === 'seen')).toHaveLength(900);
  });

  test('rejects while the database is away or silent, and an invalid claim fails alone', async () => {
    const away = new pg.Pool({ connectionString: postgres.url });
    const store = postgresReplayStore(away, { ...options, table: 'proofs_away' });
    await store.migrate();
    const claims = [
      store.claim(proofId('a'), later),
      store.claim('no id', later),
      store.claim(proofId('b'), Number.NaN),
    ];
    const settled = await Promise.allSettled(claims);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    await away.end();
    await expect(store.claim(proofId('c'), later)).rejects.toThrow();
    const silent = postgresReplayStore({ query: () => new Promise<never>(() => {}) }, { ...options, timeoutMs: 20 });
    await expect(silent.claim(proofId('a'), later)).rejects.toThrow(/longer than 20 ms/);
    await expect(silent.claim(proofId('a'), later)).rejects.toThrow(/longer than 20 ms/);
  });

  test('removes expired rows in steps', async () => {
    let now = 1_800_000_000_000;
    const table = 'proofs_pruned';
    const store = postgresReplayStore(pool, { now: () => now, monotonic: () => now, table, timeoutMs: 60_000 });
    await store.migrate();
    for (let turn = 0; turn < 400; turn++) {
      now += 1000;
      await store.claim(proofId(turn), now + 1000);
    }
    const { rows } = await pool.query(`SELECT count(*)::int AS count FROM ${table}`);
    expect(rows[0].count).toBeLessThan(100);
  });

  test.each(['x; DROP TABLE y', 'a.b.c', 'Upper', '', '"quoted"'])('throws for the table %s', (table) => {
    expect(() => postgresReplayStore(pool, { ...options, table })).toThrow(/plain lower-case name/);
  });
});
