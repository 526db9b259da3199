import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SchemaVersionError } from '@svc/host-kit';
import { startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { contract, expand, type Migration, readableBy } from '../../src/stores/migration.ts';
import { migrate as migratePostgres, MIGRATIONS as ON_POSTGRES } from '../../src/stores/postgres/migrate.ts';
import { migrate as migrateSqlite, MIGRATIONS as ON_SQLITE } from '../../src/stores/sqlite/migrate.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-skew-'));
const postgres = await startPostgres();
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

const EXPANSION = expand('CREATE TABLE later (a integer)');
const SECOND_EXPANSION = expand('CREATE TABLE latest (a integer)');

const STORES = [
  {
    store: 'SQLite',
    known: ON_SQLITE,
    async migrate(name: string, migrations: readonly Migration[]) {
      const database = new DatabaseSync(join(folder, name));
      try {
        migrateSqlite(database, migrations);
      } finally {
        database.close();
      }
    },
    async version(name: string) {
      const database = new DatabaseSync(join(folder, name));
      const version = database.prepare('PRAGMA user_version').get()?.user_version;
      database.close();
      return version;
    },
  },
  {
    store: 'PostgreSQL',
    known: ON_POSTGRES,
    migrate: (name: string, migrations: readonly Migration[]) =>
      migratePostgres({ url: postgres.url, schema: name, migrations }),
    async version(name: string) {
      return (await asked(`SELECT version FROM ${name}.schema_version`))[0]?.version;
    },
  },
];

async function asked(sql: string) {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

describe.each(STORES)('on $store', ({ store, known, migrate, version }) => {
  const next = known.length + 1;
  const dropped = contract('DROP TABLE later', next);

  test('a host runs on a schema that a later release has expanded, and leaves it as it is', async () => {
    await migrate('expanded', known);
    await migrate('expanded', [...known, EXPANSION, SECOND_EXPANSION]);
    await migrate('expanded', known);
    await migrate('expanded', [...known, EXPANSION]);
    expect(await version('expanded')).toBe(known.length + 2);
  });

  test('a host is refused by a schema that a later release has contracted', async () => {
    await migrate('contracted', [...known, EXPANSION, dropped]);
    await migrate('contracted', [...known, EXPANSION]);
    const refused = await migrate('contracted', known).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SchemaVersionError);
    expect(String(refused)).toBe(
      `SchemaVersionError: The database has schema version ${next + 1}; this version of the kit knows ${known.length}, and hosts need to know ${next} for it. Upgrade the kit.`,
    );
    expect(await version('contracted')).toBe(next + 1);
  });

  test('a host is refused by a newer schema that does not say which hosts can use it', async () => {
    await migrate('silent', known);
    if (store === 'SQLite') {
      const database = new DatabaseSync(join(folder, 'silent'));
      database.exec('PRAGMA user_version = 999; DROP TABLE schema_readable_by');
      database.close();
    } else await asked('UPDATE silent.schema_version SET version = 999, readable_by = NULL');
    await expect(migrate('silent', known)).rejects.toThrow(
      `The database has schema version 999; this version of the kit knows ${known.length}. Upgrade the kit.`,
    );
  });

  test('a migration that fails leaves the version and the schema as they were', async () => {
    await migrate('failing', known);
    await expect(migrate('failing', [...known, expand('CREATE TABLE later (a integer); nonsense')])).rejects.toThrow();
    expect(await version('failing')).toBe(known.length);
    await migrate('failing', [...known, EXPANSION]);
  });
});

test.each<[string, readonly Migration[], number]>([
  ['no migration', [], 1],
  ['expansions', [contract(''), expand(''), expand('')], 1],
  ['a contraction of the part that the version before stopped using', [contract(''), expand(''), contract('', 2)], 2],
  ['a contraction that names no version', [contract(''), expand(''), contract('')], 3],
  ['an expansion after a contraction', [contract(''), contract('', 1), contract('', 2), expand('')], 2],
])('the oldest readable version after %s', (_title, migrations, oldest) => {
  expect(readableBy(migrations)).toBe(oldest);
});

test('hosts that start at the same time migrate once', async () => {
  const migrations = [...ON_POSTGRES, EXPANSION];
  await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      migratePostgres({
        url: postgres.url,
        schema: 'crowded',
        migrations: index % 2 === 0 ? migrations : ON_POSTGRES,
      }),
    ),
  );
  expect(await asked('SELECT version FROM crowded.schema_version')).toEqual([{ version: migrations.length }]);
});

test('a migration waits for that of another host for a limited time, and for a table in use', async () => {
  await migratePostgres({ url: postgres.url, schema: 'held' });
  const other = new pg.Client({ connectionString: postgres.url });
  await other.connect();
  await other.query(`BEGIN; SELECT pg_advisory_xact_lock(hashtext('svc schema held'))`);
  const start = () =>
    migratePostgres({
      ...{ url: postgres.url, schema: 'held', hostWaitMs: 50, tableWaitMs: 50 },
      migrations: [...ON_POSTGRES, expand('ALTER TABLE runs ADD COLUMN later integer')],
    });
  await expect(start()).rejects.toThrow(
    'The schema held of the database has been locked by another host or command for 0.05 s.',
  );
  await other.query('ROLLBACK; BEGIN; SELECT 1 FROM held.runs');
  await expect(start()).rejects.toThrow('a backup or another transaction used a table for 0.05 s.');
  await other.query('ROLLBACK');
  await start();
  await other.end();
});

test('a schema is not contracted while hosts use it that need the removed part', async () => {
  const url = postgres.url;
  const migrations = [...ON_POSTGRES, EXPANSION, contract('DROP TABLE later', ON_POSTGRES.length + 1)];
  await migratePostgres({ url, schema: 'rolling' });
  const older = new pg.Client({
    connectionString: url,
    application_name: `svc rolling ${ON_POSTGRES.length}`,
  });
  await older.connect();
  await expect(migratePostgres({ url, schema: 'rolling', migrations })).rejects.toThrow(
    `Hosts that know schema version ${ON_POSTGRES.length} use the database`,
  );
  // A host of another schema does not count.
  await migratePostgres({ url, schema: 'elsewhere', migrations });
  await older.end();
  await expect
    .poll(() => migratePostgres({ url, schema: 'rolling', migrations }).then(() => 'migrated', String))
    .toBe('migrated');
});
