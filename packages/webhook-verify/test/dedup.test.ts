import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { covers } from '@svc/tools/covers';
import { type PostgresServer, startPostgres } from '@svc/tools/postgres';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DedupOptions, type DedupStore, dedupKey, type ProlongingDedupStore } from '../src/dedup/dedup.ts';
import { memoryDedupStore } from '../src/dedup/memory.ts';
import { postgresDedupStore } from '../src/dedup/postgres.ts';
import { sqliteDedupStore } from '../src/dedup/sqlite.ts';

let postgres: PostgresServer;
let pool: pg.Pool;
let folder: string;
let stores = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-dedup-'));
  postgres = await startPostgres();
  pool = new pg.Pool({ connectionString: postgres.url, max: 8 });
});

afterAll(async () => {
  await pool.end();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

const STORES: { name: string; open: (options: DedupOptions) => Promise<ProlongingDedupStore> }[] = [
  { name: 'memory', open: async (options) => memoryDedupStore(options) },
  {
    name: 'SQLite',
    open: async (options) => {
      stores += 1;
      return sqliteDedupStore(join(folder, `contract-${stores}.db`), options);
    },
  },
  {
    name: 'PostgreSQL',
    open: async (options) => {
      stores += 1;
      const store = postgresDedupStore(pool, { ...options, table: `dedup_${stores}` });
      await store.migrate();
      return store;
    },
  },
];

describe.each(STORES)(`${covers('webhooks.verify.dedup')} ($name)`, ({ open }) => {
  /** Opens a store with a clock that the test sets, in seconds. */
  async function opened(): Promise<{ store: ProlongingDedupStore; sleep: (seconds: number) => void }> {
    let now = 1_700_000_000_000;
    const store = await open({ ttlSeconds: 1000, claimSeconds: 10, now: () => now });
    return {
      store,
      sleep: (seconds) => {
        now += seconds * 1000;
      },
    };
  }

  async function claimed(store: DedupStore, key: string): Promise<string> {
    const claim = await store.claim(key);
    if (claim.state !== 'claimed') throw new Error(`${key} is ${claim.state}`);
    return claim.token;
  }

  test('a claimed key is in flight until it is confirmed, and handled afterwards', async () => {
    const { store, sleep } = await opened();
    const token = await claimed(store, 'a');
    expect(await store.claim('a')).toMatchObject({ state: 'in-flight' });
    await store.confirm('a', token);
    expect(await store.claim('a')).toEqual({ state: 'handled' });
    sleep(999);
    expect(await store.claim('a')).toEqual({ state: 'handled' });
    expect(await store.claim('b')).toMatchObject({ state: 'claimed' });
  });

  test('a claim has its length, and an open one the seconds that are left', async () => {
    const { store, sleep } = await opened();
    expect(await store.claim('a')).toMatchObject({ state: 'claimed', claimSeconds: 10 });
    expect(await store.claim('a')).toEqual({ state: 'in-flight', secondsLeft: 10 });
    sleep(7);
    expect(await store.claim('a')).toEqual({ state: 'in-flight', secondsLeft: 3 });
  });

  test('a claim lasts 60 seconds by default', async () => {
    const store = await open({ now: () => 1_700_000_000_000 });
    expect(await store.claim('a')).toMatchObject({ claimSeconds: 60 });
    expect(await store.claim('a')).toEqual({ state: 'in-flight', secondsLeft: 60 });
  });

  test('a prolonged claim lasts for its length from then on', async () => {
    const { store, sleep } = await opened();
    const token = await claimed(store, 'a');
    for (let prolonged = 0; prolonged < 3; prolonged++) {
      sleep(9);
      expect(await store.prolong('a', token)).toBe(true);
    }
    expect(await store.claim('a')).toEqual({ state: 'in-flight', secondsLeft: 10 });
    sleep(10);
    expect(await store.claim('a')).toMatchObject({ state: 'claimed' });
  });

  test('a claim that expired is prolonged while no other holds the delivery', async () => {
    const { store, sleep } = await opened();
    const token = await claimed(store, 'a');
    sleep(11);
    expect(await store.prolong('a', token)).toBe(true);
    expect(await store.claim('a')).toEqual({ state: 'in-flight', secondsLeft: 10 });
  });

  test('a prolongation after the end of its claim has no effect', async () => {
    const { store, sleep } = await opened();
    const confirmed = await claimed(store, 'confirmed');
    await store.confirm('confirmed', confirmed);
    expect(await store.prolong('confirmed', confirmed)).toBe(false);
    expect(await store.claim('confirmed')).toEqual({ state: 'handled' });

    const released = await claimed(store, 'released');
    await store.release('released', released);
    expect(await store.prolong('released', released)).toBe(false);
    expect(await store.claim('released')).toMatchObject({ state: 'claimed' });

    const late = await claimed(store, 'taken over');
    sleep(10);
    await claimed(store, 'taken over');
    sleep(4);
    expect(await store.prolong('taken over', late)).toBe(false);
    expect(await store.claim('taken over')).toEqual({ state: 'in-flight', secondsLeft: 6 });
  });

  test('a released key can be claimed again', async () => {
    const { store } = await opened();
    await store.release('a', await claimed(store, 'a'));
    expect(await store.claim('a')).toMatchObject({ state: 'claimed' });
  });

  test('a claim expires, and its token then has no effect', async () => {
    const { store, sleep } = await opened();
    const first = await claimed(store, 'a');
    sleep(10);
    const second = await claimed(store, 'a');
    await store.release('a', first);
    expect(await store.claim('a')).toMatchObject({ state: 'in-flight' });
    await store.confirm('a', first);
    expect(await store.claim('a')).toMatchObject({ state: 'in-flight' });
    await store.confirm('a', second);
    expect(await store.claim('a')).toEqual({ state: 'handled' });
    await store.release('a', second);
    expect(await store.claim('a')).toEqual({ state: 'handled' });
  });

  test('a handled key is forgotten after its time', async () => {
    const { store, sleep } = await opened();
    await store.confirm('a', await claimed(store, 'a'));
    sleep(1000);
    expect(await store.claim('a')).toMatchObject({ state: 'claimed' });
  });

  test('grants one of many concurrent claims', async () => {
    const { store } = await opened();
    const claims = await Promise.all(Array.from({ length: 20 }, () => store.claim('a')));
    expect(claims.filter(({ state }) => state === 'claimed')).toHaveLength(1);
    expect(claims.filter(({ state }) => state === 'in-flight')).toHaveLength(19);
  });

  test('keeps every text apart as a key', async () => {
    const { store } = await opened();
    const keys = ['', ' ', "'; DROP TABLE x; --", '☃', 'A', 'a', 'a '];
    for (const key of keys) await claimed(store, key);
    for (const key of keys) expect(await store.claim(key)).toMatchObject({ state: 'in-flight' });
  });

  test('agrees with a model for any sequence of calls', async () => {
    const call = fc.record({
      what: fc.constantFrom('claim', 'confirm', 'prolong', 'release', 'sleep'),
      key: fc.constantFrom('a', 'b'),
      seconds: fc.constantFrom(1, 10, 1000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 20 }), async (calls) => {
        const { store, sleep } = await opened();
        let now = 0;
        const model = new Map<string, { token: string | undefined; until: number }>();
        const tokens = new Map<string, string>();
        for (const { what, key, seconds } of calls) {
          const entry = model.get(key);
          const token = tokens.get(key) ?? '00000000-0000-4000-8000-000000000000';
          if (what === 'sleep') {
            now += seconds;
            sleep(seconds);
          } else if (what === 'claim') {
            const claim = await store.claim(key);
            const isFree = entry === undefined || entry.until <= now;
            expect(claim.state).toBe(isFree ? 'claimed' : entry.token === undefined ? 'handled' : 'in-flight');
            if (claim.state !== 'claimed') continue;
            tokens.set(key, claim.token);
            model.set(key, { token: claim.token, until: now + 10 });
          } else if (what === 'confirm') {
            await store.confirm(key, token);
            const isFree = entry === undefined || entry.until <= now;
            if (isFree || entry.token === token) model.set(key, { token: undefined, until: now + 1000 });
          } else if (what === 'prolong') {
            // In memory, an expired claim may be forgotten already.
            if (entry !== undefined && entry.token === token && entry.until <= now) continue;
            expect(await store.prolong(key, token)).toBe(entry?.token === token);
            if (entry?.token === token) model.set(key, { token, until: now + 10 });
          } else {
            await store.release(key, token);
            if (entry?.token === token) model.delete(key);
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  test.each([
    ...[{ ttlSeconds: 0 }, { claimSeconds: -1 }, { ttlSeconds: Number.NaN }, { ttlSeconds: Number.POSITIVE_INFINITY }],
    ...[{ claimSeconds: 1e9 + 1 }, JSON.parse('{ "ttlSeconds": "60" }')],
  ])('throws for the options %j', async (options) => {
    await expect(open(options)).rejects.toThrow(/must be a positive number/);
  });
});

describe('in memory', () => {
  test('forgets the oldest key over its capacity', async () => {
    const store = memoryDedupStore({ capacity: 2 });
    for (const key of ['a', 'b', 'c']) {
      const claim = await store.claim(key);
      await store.confirm(key, claim.state === 'claimed' ? claim.token : '');
    }
    expect([await store.claim('c'), await store.claim('b')]).toEqual([{ state: 'handled' }, { state: 'handled' }]);
    expect(await store.claim('a')).toMatchObject({ state: 'claimed' });
  });

  test.each([0, 1.5, Number.POSITIVE_INFINITY])('throws for a capacity of %s', (capacity) => {
    expect(() => memoryDedupStore({ capacity })).toThrow(TypeError);
  });
});

describe('in SQLite', () => {
  test('a confirmed key survives kill -9, and a claimed key expires', async () => {
    const path = join(folder, 'killed.db');
    const program = `
      import { sqliteDedupStore } from ${JSON.stringify(new URL('../src/dedup/sqlite.ts', import.meta.url).href)};
      const store = sqliteDedupStore(${JSON.stringify(path)}, { claimSeconds: 1 });
      store.confirm('handled', store.claim('handled').token);
      store.claim('claimed');
      process.kill(process.pid, 'SIGKILL');`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: 'inherit' });
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
    const now = Date.now();
    const at = (ms: number) => sqliteDedupStore(path, { now: () => now + ms });
    expect(at(0).claim('handled')).toEqual({ state: 'handled' });
    expect(at(2000).claim('claimed')).toMatchObject({ state: 'claimed' });
  });

  test('grants each key to one of several processes that share a file', async () => {
    const path = join(folder, 'shared.db');
    const program = `
      import { sqliteDedupStore } from ${JSON.stringify(new URL('../src/dedup/sqlite.ts', import.meta.url).href)};
      const store = sqliteDedupStore(${JSON.stringify(path)});
      let claimed = 0;
      for (let key = 0; key < 300; key++) if (store.claim(String(key)).state === 'claimed') claimed += 1;
      console.log(claimed);`;
    const counts = await Promise.all(
      [1, 2, 3].map(async () => {
        const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const [[printed]] = await Promise.all([once(child.stdout, 'data'), once(child, 'exit')]);
        return Number(String(printed));
      }),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(300);
  });

  test('a claim holds against a process that read the clock before it, and waited for the lock', () => {
    const path = join(folder, 'waited.db');
    const at = (now: number) => sqliteDedupStore(path, { claimSeconds: 1, now: () => now });
    const time = 1_700_000_000_000;
    expect(at(time + 5000).claim('a')).toMatchObject({ state: 'claimed' });
    expect(at(time).claim('a')).toMatchObject({ state: 'in-flight' });
  });

  test('a claim ends when the clock is set back by minutes', () => {
    const path = join(folder, 'set-back.db');
    const at = (now: number) => sqliteDedupStore(path, { claimSeconds: 1, now: () => now });
    const time = 1_700_000_000_000;
    expect(at(time).claim('a')).toMatchObject({ state: 'claimed' });
    expect(at(time - 120_000).claim('a')).toMatchObject({ state: 'claimed' });
  });

  test('leaves a database of the application open', () => {
    const db = new DatabaseSync(':memory:');
    const store = sqliteDedupStore(db);
    void store.claim('a');
    store.close();
    expect(db.prepare('SELECT count(*) AS count FROM svc_webhook_dedup').get()).toEqual({ count: 1 });
    db.close();
  });

  test('prunes expired rows', () => {
    const db = new DatabaseSync(':memory:');
    let now = 0;
    const store = sqliteDedupStore(db, { claimSeconds: 1, now: () => now });
    for (let key = 0; key < 1000; key++) {
      now += 100;
      void store.claim(String(key));
    }
    const { count } = db.prepare('SELECT count(*) AS count FROM svc_webhook_dedup').get() ?? {};
    expect(Number(count)).toBeLessThan(200);
  });
});

describe('in PostgreSQL', () => {
  test('creates one table when processes migrate at once', async () => {
    const migrate = () => postgresDedupStore(pool, { table: 'dedup_together' }).migrate();
    await Promise.all(Array.from({ length: 8 }, migrate));
    expect(await postgresDedupStore(pool, { table: 'dedup_together' }).claim('a')).toMatchObject({ state: 'claimed' });
  });

  test('accepts a table with a schema', async () => {
    await pool.query('CREATE SCHEMA receiver');
    const store = postgresDedupStore(pool, { table: 'receiver.dedup' });
    await store.migrate();
    expect(await store.claim('a')).toMatchObject({ state: 'claimed' });
  });

  test.each(['x; DROP TABLE y', 'a.b.c', 'Upper', '', '"quoted"', 'x'.repeat(60)])(
    'throws for the table %s',
    (table) => {
      expect(() => postgresDedupStore(pool, { table })).toThrow(/plain lower-case name/);
    },
  );

  test('prunes expired rows', async () => {
    let now = 0;
    const store = postgresDedupStore(pool, { table: 'dedup_pruned', claimSeconds: 1, now: () => now });
    await store.migrate();
    for (let key = 0; key < 300; key++) {
      now += 100;
      await store.claim(String(key));
    }
    const { rows } = await pool.query('SELECT count(*)::int AS count FROM dedup_pruned');
    expect(rows[0].count).toBeLessThan(150);
  });
});

test('dedupKey differs for every combination of webhook, run and sequence', () => {
  const key = (webhookId: string, runId: string, sequence: number) =>
    dedupKey({
      webhookId,
      runId,
      eventType: 't',
      timestamp: 1,
      event: { type: 'run.started', runId, sequence, timestamp: '2023-11-14T22:13:20Z', payload: { workflowId: 'w' } },
    });
  const keys = [
    key('a', 'b', 1),
    key('a', 'b', 2),
    key('a', 'c', 1),
    key('b', 'b', 1),
    key('a","b', '', 1),
    key('a', '","b', 1),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(key('a', 'b', 1)).toBe(key('a', 'b', 1));
});
