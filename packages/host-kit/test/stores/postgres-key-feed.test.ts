import { startPostgres } from '@svc/tools/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiKeyChange } from '../../src/ports/api-keys.ts';
import { systemClock } from '../../src/ports/clock.ts';
import { announce, apiKeyFeed } from '../../src/stores/postgres/api-key-feed.ts';
import { type Database, openDatabase } from '../../src/stores/postgres/database.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';

const SCHEMA = 'key_feed';
let postgres: Awaited<ReturnType<typeof startPostgres>>;
let database: Database;
beforeAll(async () => {
  postgres = await startPostgres();
  const store = await postgresStore({ url: postgres.url, schema: SCHEMA });
  await store.close();
  database = openDatabase({ url: postgres.url, schema: SCHEMA, connections: 2, onError: () => {} });
});
afterAll(async () => {
  await database.close();
  await postgres.stop();
});

const run = async (text: string) => (await database.query({ name: '', text }, [])).rows;
const change = (subject: string) =>
  database.transaction(async (transaction) =>
    announce(database, { schema: SCHEMA, lookup: '0123456789abcdef', subject }, transaction),
  );

test('after a failover that lost changes, a host knows no change that it has not heard', async () => {
  const changes: (ApiKeyChange | undefined)[] = [];
  const feed = apiKeyFeed({ url: postgres.url, schema: SCHEMA, database });
  const following = feed.follow({
    clock: systemClock,
    changed: (change) => void changes.push(change),
    failed: () => {},
  });
  const registrations = () => changes.filter((change) => change === undefined).length;
  await expect.poll(() => following.isCurrent(), { timeout: 20_000 }).toBe(true);
  for (const id of ['a', 'b', 'c']) await change(id);
  await expect.poll(() => changes.at(-1)?.id, { timeout: 20_000 }).toBe('c');

  // The database that takes over never had the three changes.
  await run('UPDATE key_feed SET epoch = 0');
  const before = registrations();
  await run(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%key_hosts%'`,
  );
  // One for the lost connection, and one for the new registration.
  await expect.poll(registrations, { timeout: 20_000 }).toBe(before + 2);
  const [registered] = await run('SELECT lease_until AS until FROM key_hosts');
  const renewed = async () => (await run('SELECT lease_until AS until FROM key_hosts'))[0]?.until;
  await expect.poll(renewed, { timeout: 20_000 }).not.toEqual(registered?.until);
  expect(await run('SELECT known::int FROM key_hosts')).toEqual([{ known: 0 }]);

  await change('d');
  await feed.confirmed(systemClock);
  expect(changes.at(-1)?.id).toBe('d');
  await following.stop();
});
