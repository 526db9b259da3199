import { startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  inspectPostgres,
  type PostgresInspection,
  postgresStore,
  type RestorePostgresOptions,
  restorePostgres,
} from '../../src/stores/postgres/index.ts';
import { sampleEvent, sampleRun } from '../../src/testing/store-contract/samples.ts';

const LONG = 2_000_000;

let postgres: Awaited<ReturnType<typeof startPostgres>>;
let exported: Awaited<ReturnType<typeof read>>;
beforeAll(async () => {
  postgres = await startPostgres();
  const store = await postgresStore({ url: postgres.url, schema: 'source', connections: 2 });
  await store.transaction(async (transaction) => {
    await store.runs.insert(sampleRun({ runId: 'run_1', inputs: { text: 'a\tb\nc\\N\\.\r\u0001é😀"' } }), transaction);
    for (let sequence = 0; sequence < 20; sequence++) {
      const event = { ...sampleEvent(sequence), runId: 'run_1', payload: { text: 'x'.repeat(LONG) } };
      await store.events.insert([event], transaction);
    }
    const at = new Date(0).toISOString();
    const fact = { action: 'run.create', actor: null, target: null, occurredAt: at, details: {} } as const;
    await store.audit.append([fact, fact], transaction);
  });
  await store.close();
  exported = await inspected('source', read);
});
afterAll(() => postgres.stop());

async function inspected<T>(schema: string, work: (inspection: PostgresInspection) => Promise<T>): Promise<T> {
  const inspection = await inspectPostgres({ url: postgres.url, schema });
  try {
    return await work(inspection);
  } finally {
    await inspection.close();
  }
}

/** Reads a whole database, row by row. */
async function read(inspection: PostgresInspection) {
  const pieces: Record<string, Uint8Array[]> = {};
  const tables = [];
  for (const table of await inspection.tables()) {
    const rows = [];
    for await (const piece of inspection.rowsOf(table)) rows.push(piece);
    pieces[table.name] = rows;
    tables.push({ ...table, rows: Buffer.concat(rows).toString().split('\n').length - 1 });
  }
  return { schemaVersion: inspection.schemaVersion, tables, pieces, sequences: await inspection.sequences() };
}

function restore(schema: string, changes: Partial<RestorePostgresOptions> = {}) {
  const { schemaVersion, tables, sequences, pieces } = exported;
  const rowsOf = async function* (name: string) {
    yield* pieces[name] ?? [];
  };
  return restorePostgres({ url: postgres.url, schema, schemaVersion, tables, sequences, rowsOf, ...changes });
}

async function exists(schema: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const { rows } = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
  await client.end();
  return rows.length > 0;
}

test('every row that is exported is restored as it was', async () => {
  expect(await restore('copy')).toEqual({ held: undefined });
  const copied = await inspected('copy', read);
  expect(copied.schemaVersion).toBe(exported.schemaVersion);
  expect(copied.tables).toEqual(exported.tables);
  expect(copied.sequences).toEqual(exported.sequences);
  for (const { name } of exported.tables) {
    // The lease of a former host ends with the restore.
    if (name === 'runs') continue;
    const same = Buffer.concat(copied.pieces[name] ?? []).equals(Buffer.concat(exported.pieces[name] ?? []));
    expect(same, name).toBe(true);
  }
  // A host can use it.
  await (await postgresStore({ url: postgres.url, schema: 'copy', connections: 2 })).close();
});

test('rows are exported in pieces of about a row', () => {
  const longest = Math.max(...(exported.pieces.events ?? []).map(({ byteLength }) => byteLength));
  expect(longest).toBeGreaterThanOrEqual(LONG);
  expect(longest).toBeLessThan(1.5 * LONG);
});

test('an export shows one moment, while hosts write', async () => {
  const store = await postgresStore({ url: postgres.url, schema: 'moving', connections: 2 });
  const insert = (runId: string) =>
    store.transaction((transaction) => store.runs.insert(sampleRun({ runId }), transaction));
  await insert('run_1');
  await inspected('moving', async (inspection) => {
    await insert('run_2');
    expect((await inspection.pending()).runs).toBe(1);
    const { tables } = await read(inspection);
    expect(tables.find(({ name }) => name === 'runs')?.rows).toBe(1);
  });
  await store.close();
});

test.each<[string, Partial<RestorePostgresOptions>, RegExp]>([
  [
    'a source that fails in the middle',
    {
      async *rowsOf(name) {
        yield exported.pieces[name]?.[0] ?? new Uint8Array();
        if (name === 'events') throw new Error('the disk is gone');
      },
    },
    /^the disk is gone$/,
  ],
  [
    'rows that are no rows',
    {
      async *rowsOf() {
        yield Buffer.from('nonsense\n');
      },
    },
    /./,
  ],
  [
    'a check that refuses',
    {
      examine: async (restored) => {
        expect((await restored.audit.head())?.atSequence).toBe(2);
        throw new Error('refused');
      },
    },
    /^refused$/,
  ],
  ['a schema that holds tables', { schema: 'source' }, /^The schema source of the database has tables\./],
  ['a version that is not known', { schemaVersion: 999 }, /^The exported tables have schema version 999; /],
  ['a name that is none', { schema: 'a; b' }, /^restorePostgres: schema must have/],
])('a restore with %s changes nothing', async (_title, changes, message) => {
  await expect(restore('refused', changes)).rejects.toThrow(message);
  expect(await exists('refused')).toBe(false);
});

test('an export ends with an error when the server ends its connection', async () => {
  const failed = inspected('source', async (inspection) => {
    const tables = await inspection.tables();
    const events = tables.find(({ name }) => name === 'events');
    for await (const piece of inspection.rowsOf(events ?? { name: 'events', columns: [] })) {
      expect(piece.byteLength).toBeGreaterThan(0);
      const client = new pg.Client({ connectionString: postgres.url });
      await client.connect();
      await client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY events%' AND state = 'active'`,
      );
      await client.end();
    }
  });
  await expect(failed).rejects.toThrow();
});
