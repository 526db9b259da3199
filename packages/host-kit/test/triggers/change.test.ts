import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type PostgresChangesOptions, postgresChanges } from '../../src/changes/postgres/index.ts';
import { sqliteChanges } from '../../src/changes/sqlite/index.ts';
import type { ChangeTable } from '../../src/ports/changes.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { type TriggerHost, triggerHost } from './trigger-host.ts';

const WAIT = { timeout: 60_000, interval: 10 };
const folder = mkdtempSync(join(tmpdir(), 'svc-changes-'));
const file = join(folder, 'shop.db');
const postgres = await startPostgres();
const database = new pg.Pool({ connectionString: postgres.url, max: 4 });
const sqlite = new DatabaseSync(file);
/** Its name needs quotes. */
const TABLE = 'the "orders"';
let world: TriggerHost;

const own = [{ tenant: 'acme' }];

function source(options: Partial<PostgresChangesOptions> = {}) {
  const base = { url: postgres.url, table: TABLE, cursor: 'seq', columns: ['order', 'total'], settleMs: 1000 };
  return postgresChanges({ ...base, ...options });
}

function tables(): Readonly<Record<string, ChangeTable>> {
  const versions = sqliteChanges({
    file,
    table: 'versions',
    cursor: 'version',
    key: 'order',
    columns: ['order', 'blob'],
  });
  return {
    orders: { source: source(), grants: own },
    notes: { source: source({ table: 'notes', cursor: 'at', key: 'id', columns: ['order'] }), grants: own },
    repeated: { source: source({ table: 'notes', cursor: 'at', columns: ['order'] }), grants: own },
    missing: { source: source({ table: 'missing' }), grants: own },
    theirs: { source: source(), grants: [{ tenant: 'umbrella' }] },
    trials: { source: source(), grants: [{ tenant: 'acme', mode: 'test' }] },
    versions: { source: versions, grants: own },
  };
}

beforeAll(async () => {
  await database.query(`CREATE TABLE "the ""orders""" (seq bigserial PRIMARY KEY, "order" text, total bigint)`);
  await database.query('CREATE TABLE notes (id text PRIMARY KEY, at timestamptz NOT NULL, "order" text)');
  sqlite.exec('CREATE TABLE versions ("order" TEXT PRIMARY KEY, version INTEGER NOT NULL, blob BLOB)');
  world = await triggerHost({ store: memoryStore(), triggers: { maxBodyBytes: 2000, changes: tables() } });
});
afterAll(async () => {
  await world.host.stop(0);
  await database.end();
  await postgres.stop();
  sqlite.close();
  rmSync(folder, { recursive: true, force: true });
});

const RULES = {
  ...{ source: 'change', webhook: undefined, secret: undefined },
  mapping: { workflowId: 'echo', inputs: { order: { pointer: '/body/order' }, all: { pointer: '/body' } } },
};
let triggerId = '';

async function register(table: string, from = 'beginning') {
  ({ triggerId } = await world.register({ ...RULES, change: { table, from } }));
}

beforeEach(async () => {
  // The tables are shared, so that each test reads alone.
  for (const { subscriptionId } of (await world.call('owner', 'GET', '/host/example/triggers')).body.triggers)
    await operate(subscriptionId.split('/')[1], 'DELETE');
});

function eventually(value: () => unknown, expected: unknown) {
  const moved = async () => {
    world.clock.advance(500);
    return value();
  };
  return expect.poll(moved, WAIT).toEqual(expected);
}

async function ordersOf(prefix: string): Promise<readonly unknown[]> {
  const orders = (await world.runs()).map(({ inputs }) => inputs.order);
  return orders.filter((order) => String(order).startsWith(prefix)).sort();
}

const operate = (id: string, method: string, suffix = '') =>
  world.call('owner', method, `/host/example/triggers/${id}${suffix}`);
const shown = async () => (await operate(triggerId, 'GET')).body;
const insert = (order: string, total = '1', client: Pick<pg.Pool, 'query'> = database) =>
  client.query(`INSERT INTO "the ""orders""" ("order", total) VALUES ($1, $2)`, [order, total]);

describe(covers('triggers.change.durable'), () => {
  test('rows of PostgreSQL start runs in the order of the cursor, those before the registration only where asked for', async () => {
    await insert('old-1');
    const body = await world.register({ ...RULES, change: { table: 'orders' } });
    triggerId = body.triggerId;
    expect([body.subscription.source, body.binding, body.secret]).toEqual(['change', {}, undefined]);
    await eventually(async () => (await shown()).reading?.cursor, '["1"]');
    await insert('new-1', '12345678901234567891'.slice(0, 18));
    await insert('new-2');
    await eventually(() => ordersOf('new-'), ['new-1', 'new-2']);
    expect(await ordersOf('old-')).toEqual([]);
    const run = (await world.runs()).find(({ inputs }) => inputs.order === 'new-1');
    expect(run?.inputs.all).toEqual({ order: 'new-1', total: '123456789012345678' });
    expect(await shown()).toMatchObject({
      change: { table: 'orders', from: 'now' },
      reading: { state: 'reading', failures: 0, cursor: '["3"]' },
    });
    await register('orders');
    await eventually(() => ordersOf('old-'), ['old-1']);
  });

  test('a pair of cursor and key tells rows of one moment apart', async () => {
    const add = (id: string, at: string) =>
      database.query('INSERT INTO notes VALUES ($1, $2, $3)', [id, at, `note-${id}`]);
    for (const id of ['b', 'a', 'd']) await add(id, '2026-01-01T00:00:00.123456Z');
    await register('notes');
    await eventually(() => ordersOf('note-'), ['note-a', 'note-b', 'note-d']);
    await add('e', '2026-01-01T00:00:00.123456Z');
    await add('c', '2026-01-01T00:00:00.123457Z');
    await eventually(() => ordersOf('note-'), ['note-a', 'note-b', 'note-c', 'note-d', 'note-e']);
  });

  test('rows of SQLite start runs, and again when their cursor rises', async () => {
    const put = sqlite.prepare(
      'INSERT INTO versions VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET version = excluded.version',
    );
    for (let n = 0; n < 60; n++) put.run(`row-${n}`, 2n ** 60n + BigInt(n), Uint8Array.of(n));
    await register('versions');
    await eventually(async () => (await ordersOf('row-')).length, 60);
    put.run('row-7', 2n ** 61n, null);
    await eventually(async () => (await ordersOf('row-')).filter((order) => order === 'row-7').length, 2);
    expect(await ordersOf('row-')).toHaveLength(61);
    expect((await world.runs()).find(({ inputs }) => inputs.order === 'row-9')?.inputs.all).toMatchObject({
      blob: 'CQ==',
    });
  });

  test('a pause keeps the place, and a resume goes on behind it', async () => {
    await register('orders', 'now');
    await eventually(async () => (await shown()).reading?.cursor !== undefined, true);
    await operate(triggerId, 'POST', '/pause');
    await insert('paused-1');
    await operate(triggerId, 'POST', '/resume');
    await eventually(() => ordersOf('paused-'), ['paused-1']);
  });
});

describe(covers('triggers.change.settled'), () => {
  test('a row that commits after one with a higher cursor starts its run, too', async () => {
    await register('orders', 'now');
    await eventually(async () => (await shown()).reading?.cursor !== undefined, true);
    const slow = await database.connect();
    try {
      await slow.query('BEGIN');
      await insert('late-1', '1', slow);
      await insert('late-2');
      for (let n = 0; n < 20; n++) {
        world.clock.advance(500);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      expect(await ordersOf('late-')).toEqual([]);
      await slow.query('COMMIT');
    } finally {
      slow.release();
    }
    await eventually(() => ordersOf('late-'), ['late-1', 'late-2']);
  });
});

describe(covers('triggers.change.grants'), () => {
  test.each(['theirs', 'trials', 'none', '__proto__'])('the table %s is refused', async (table) => {
    const { status, body } = await world.call('owner', 'POST', '/trigger-subscriptions', {
      ...RULES,
      change: { table },
    });
    expect([status, body.error]).toEqual([403, 'forbidden']);
  });

  test('discovery names the source where a table is configured', async () => {
    const { body } = await world.call('owner', 'GET', '/.well-known/svc');
    expect(body.triggerBridge.sources).toEqual(['webhook', 'schedule', 'form', 'change']);
  });
});

describe(covers('triggers.change.refused'), () => {
  test.each([
    ['whose cursor is not unique', 'repeated'],
    ['that does not exist', 'missing'],
  ])(
    'a table %s starts no run, and the trigger shows a failure without names of the database',
    async (_what, table) => {
      await register(table);
      await eventually(async () => (await shown()).reading?.failures >= 2, true);
      const { state, reading } = await shown();
      expect([state, reading.problem]).toEqual(['active', expect.stringContaining('the table could not be read')]);
      expect(reading.problem).not.toContain('notes');
    },
  );

  test('a row that is too large is a dead letter, and the next one starts its run', async () => {
    await register('orders', 'now');
    await eventually(async () => (await shown()).reading?.cursor !== undefined, true);
    await insert('x'.repeat(3000));
    await insert('after-large');
    await eventually(() => ordersOf('after-large'), ['after-large']);
    const { messages } = (await operate(triggerId, 'GET', '/messages')).body;
    const problems = messages.map(({ problem }: { problem?: string }) => problem);
    expect(problems).toContain('message: has more than 2000 bytes');
  });

  test.each<[string, object]>([
    ['an empty name', { table: '' }],
    ['a name with NUL', { cursor: 'a\0b' }],
    ['no columns', { columns: [] }],
    ['a column twice', { columns: ['a', 'a'] }],
    ['the cursor as the key', { key: 'seq' }],
    ['a delay that is none', { settleMs: -1 }],
  ])('%s is a TypeError', (_what, options) => expect(() => source(options)).toThrow(TypeError));
});
