import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { applyMigrations, MIGRATIONS as POSTGRES_MIGRATIONS } from '../../src/stores/postgres/migrate.ts';
import { initial as postgresInitial } from '../../src/stores/postgres/migrations/0001-initial.ts';
import { byok as postgresByok } from '../../src/stores/postgres/migrations/0002-byok.ts';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import { migrate as migrateSqlite, MIGRATIONS as SQLITE_MIGRATIONS } from '../../src/stores/sqlite/migrate.ts';
import { initial } from '../../src/stores/sqlite/migrations/0001-initial.ts';
import { audit } from '../../src/stores/sqlite/migrations/0002-audit.ts';
import { operations } from '../../src/stores/sqlite/migrations/0003-operations.ts';
import { byok } from '../../src/stores/sqlite/migrations/0004-byok.ts';
import { rotation } from '../../src/stores/sqlite/migrations/0005-rotation.ts';
import { runOperations } from '../../src/stores/sqlite/migrations/0006-run-operations.ts';
import { idempotency } from '../../src/stores/sqlite/migrations/0007-idempotency.ts';
import { ANY_ROOM } from '../../src/testing/store-contract/samples.ts';
import { sampleSubscription } from '../webhooks/samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-migrations-'));
const postgres = await startPostgres();
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

/**
 * A subscription as it was written before secret rotation. Its strings are those that JSON functions of a database
 * could reject or change.
 */
const DOCUMENT = {
  workspaces: 'all',
  major: 1,
  url: 'https://example.com/',
  events: ['run.completed'],
  tags: ['\u0000', '"secretFingerprint":"00000000"'],
  durable: true,
  secretFingerprint: 'abcdef01',
  createdAt: 0,
};
const { secretFingerprint: _, ...fields } = sampleSubscription({ tags: DOCUMENT.tags, sealedSecret: Uint8Array.of(7) });
const AFTER = { ...fields, secretFingerprint: 'abcdef01' };
const CIRCUIT = JSON.stringify({ state: 'closed', consecutiveFailures: 0 });

test('the SQLite migrations keep a subscription from before secret rotation', async () => {
  const path = join(folder, 'svc.db');
  const database = new DatabaseSync(path);
  database.exec(`${initial}${audit}${operations}${byok} PRAGMA user_version = 4`);
  database
    .prepare(`INSERT INTO subscriptions VALUES ('whk_1', 'acme', 'live', 'active', ?, '[]', x'07', ?)`)
    .run(CIRCUIT, JSON.stringify(DOCUMENT));
  database.close();
  const store = sqliteStore(path);
  expect(await store.subscriptions.read('whk_1')).toEqual(AFTER);
  await store.close();
});

test('the SQLite migrations keep deliveries and attempts from before claims moved to memory', async () => {
  const path = join(folder, 'claimed.db');
  const database = new DatabaseSync(path);
  database.exec(
    `${initial}${audit}${operations}${byok}${rotation}${runOperations}${idempotency} PRAGMA user_version = 7`,
  );
  database
    .prepare(
      `INSERT INTO subscriptions VALUES ('whk_1', 'acme', 'live', 'active', ?, '[]', x'07', ?, '00000000', NULL, NULL, NULL)`,
    )
    .run(CIRCUIT, JSON.stringify(DOCUMENT));
  const deliveries = [
    { id: 'dlv_1', state: 'claimed', dueAt: 9000, deadAt: null },
    { id: 'dlv_2', state: 'waiting', dueAt: 500, deadAt: null },
    { id: 'dlv_3', state: 'dead', dueAt: 90_000, deadAt: 400 },
  ];
  for (const { id, state, dueAt, deadAt } of deliveries) {
    database
      .prepare(
        `INSERT INTO deliveries VALUES (NULL, ?, 'whk_1', 'run_1', 'evt_1', 1, 'run.completed', x'7b7d', 1, ?, ?, ?, 500)`,
      )
      .run(id, state, dueAt, deadAt);
  }
  for (let at = 1; at <= 130; at++) {
    database
      .prepare(
        `INSERT INTO attempts VALUES (NULL, 'whk_1', 'dlv_1', 'run_1', 1, 'run.completed', 1, ?, 5, 'failed', 500, NULL)`,
      )
      .run(at);
  }
  database.close();
  const store = sqliteStore(path);
  const claimed = await store.deliveries.claim({ now: 1000, leaseUntil: 2000, limit: 10, room: ANY_ROOM });
  expect(claimed.map(({ deliveryId }) => deliveryId)).toEqual(['dlv_1', 'dlv_2']);
  expect(await store.deliveries.deadLetters('whk_1', { limit: 10 })).toMatchObject([
    { deliveryId: 'dlv_3', deadLetteredAt: 400, expiresAt: 90_000, attempts: 1 },
  ]);
  const kept = async () => (await store.attempts.list('whk_1', 1000)).map(({ at }) => at);
  expect(await kept()).toEqual(Array.from({ length: 100 }, (_, index) => 130 - index));
  const [newest] = await store.attempts.list('whk_1', 1);
  if (newest !== undefined)
    await store.transaction((transaction) => store.attempts.record([{ ...newest, at: 131 }], transaction));
  expect(await kept()).toEqual(Array.from({ length: 100 }, (_, index) => 131 - index));
  await store.close();
});

test('the PostgreSQL migrations keep a subscription from before secret rotation', async () => {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(
    'CREATE SCHEMA old; SET search_path TO old; CREATE TABLE schema_version (version integer NOT NULL)',
  );
  await client.query(`${postgresInitial}${postgresByok} INSERT INTO schema_version VALUES (2)`);
  await client.query(`INSERT INTO subscriptions VALUES ('whk_1', 'acme', 'live', 'active', $1, '[]', '\\x07', $2)`, [
    CIRCUIT,
    JSON.stringify(DOCUMENT),
  ]);
  await client.end();
  const store = await postgresStore({ url: postgres.url, schema: 'old', connections: 2 });
  expect(await store.subscriptions.read('whk_1')).toEqual(AFTER);
  await store.close();
});

/** An effect as it was written while its result was a member of its document. */
const EFFECT = {
  keying: 'business-identity',
  providerKey: 'acme:pay',
  invocationId: 'inv_1',
  runId: 'run_1',
  epoch: 2,
  nodeId: ',"result":',
  attempt: 0,
  state: 'completed',
} as const;
const RESULTS = [{ text: 'é\u0000"', nested: { former: 1, result: 2 } }, null, 'x,"result":1}', undefined];
const FORMER = RESULTS.map((result, index) => [`eff_${index}`, index, JSON.stringify({ ...EFFECT, result })] as const);
const MIGRATED = RESULTS.map((result, at) => ({
  effectId: `eff_${at}`,
  at,
  ...EFFECT,
  ...(result !== undefined && { result }),
}));

test('the SQLite migrations keep effects and their results', async () => {
  const path = join(folder, 'effects.db');
  const database = new DatabaseSync(path);
  migrateSqlite(database, SQLITE_MIGRATIONS.slice(0, 20));
  for (const row of FORMER) database.prepare('INSERT INTO effects VALUES (?, ?, ?)').run(...row);
  database.close();
  const store = sqliteStore(path);
  expect(await Promise.all(MIGRATED.map(({ effectId }) => store.effects.read(effectId)))).toEqual(MIGRATED);
  await store.close();
});

test('the PostgreSQL migrations keep effects and their results', async () => {
  const place = { url: postgres.url, schema: 'effects', connections: 2 };
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query('CREATE SCHEMA effects; SET search_path TO effects');
  await client.query('CREATE TABLE schema_version (version integer NOT NULL, readable_by integer)');
  await applyMigrations(client, POSTGRES_MIGRATIONS.slice(0, 21), 0);
  for (const row of FORMER) await client.query('INSERT INTO effects VALUES ($1, $2, $3)', [...row]);
  await client.end();
  const store = await postgresStore(place);
  expect(await Promise.all(MIGRATED.map(({ effectId }) => store.effects.read(effectId)))).toEqual(MIGRATED);
  await store.close();
});
