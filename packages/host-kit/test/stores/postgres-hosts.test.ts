import { EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { frozenNetwork } from '@svc/tools/frozen-network';
import { startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { EVENT_TYPES, payloadExample } from '../../src/events/event-types.ts';
import { systemClock } from '../../src/ports/clock.ts';
import type { NewEvent } from '../../src/ports/engine.ts';
import { systemRandom } from '../../src/ports/random.ts';
import type { Transaction } from '../../src/ports/transaction.ts';
import { eventLog, RunTakenOver } from '../../src/runs/event-log.ts';
import { announce } from '../../src/stores/postgres/api-key-feed.ts';
import { auditStore } from '../../src/stores/postgres/audit.ts';
import { type Database, openDatabase } from '../../src/stores/postgres/database.ts';
import { eventStore } from '../../src/stores/postgres/events.ts';
import { releaseDeliveries } from '../../src/stores/postgres/held-deliveries.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { runStore } from '../../src/stores/postgres/runs.ts';
import { sampleRun, sampleSubscription } from '../../src/testing/store-contract/samples.ts';

const postgres = await startPostgres();
const store = await postgresStore({ url: postgres.url });
const opened: Database[] = [];
afterAll(async () => {
  for (const database of opened) await database.close();
  await store.close();
  await postgres.stop();
});

/** Longer than any test: the tests end leases themselves. */
const LEASE_MS = 3_600_000;
const PAGE = { after: undefined, limit: 10 };

/** Opens a database that is closed after the tests. */
function connected(connections: number, url = postgres.url): Database {
  const database = openDatabase({ url, schema: 'svc', connections, onError: () => {}, statementMs: 20_000 });
  opened.push(database);
  return database;
}

/** Runs a statement in a transaction that has no time limit, and returns the function that ends it. */
async function holding(text: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: postgres.url, options: '-c search_path=svc' });
  await client.connect();
  await client.query('BEGIN');
  await client.query(text);
  return () => client.end();
}

/** A promise that the test resolves. */
function latch() {
  let open = () => {};
  const isOpen = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { isOpen, open: () => open() };
}

/** A host as the database sees it. It does not renew the lease on its runs. */
function host(name: string) {
  const database = openDatabase({ url: postgres.url, schema: 'svc', connections: 2, onError: () => {} });
  opened.push(database);
  const runs = runStore(database, name, LEASE_MS);
  const events = eventLog({
    store: { ...store, transaction: database.transaction, runs, events: eventStore(database) },
    clock: systemClock,
    random: systemRandom,
    outbox: async () => 0,
    appended: () => {},
  });
  return {
    runs,
    transaction: database.transaction,
    endLeases: () => database.query({ name: 'end-leases', text: 'UPDATE runs SET held_until = 0' }, []),
    append: (runId: string, type: string, epoch?: number) => events.append(runId, exampleOf(type), epoch),
  };
}

function exampleOf(type: string): NewEvent {
  const known = EVENT_TYPES.get(type);
  if (known === undefined) throw new Error(`${type} is no event type.`);
  return { type, payload: payloadExample(2, known) };
}

test('a host appends no steps of an epoch that it has lost, not even after it gets the run back', async () => {
  const [slow, other] = [host('slow'), host('other')];
  const { runId } = sampleRun({});
  await slow.transaction((transaction) => slow.runs.insert(sampleRun({}), transaction));
  await slow.append(runId, 'run.started', 0);
  await slow.endLeases();
  // No other host has taken the run over, so it still belongs to this one.
  await slow.append(runId, 'node.started', 0);

  const [taken] = await other.runs.unfinished(PAGE);
  expect(taken).toMatchObject({ runId, epoch: 1, lastSequence: 1 });
  await expect(slow.append(runId, 'node.completed', 0)).rejects.toThrow(RunTakenOver);
  expect(await slow.runs.unfinished(PAGE)).toEqual([]);
  await other.append(runId, 'node.completed', 1);

  await slow.endLeases();
  expect(await slow.runs.unfinished(PAGE)).toMatchObject([{ runId, epoch: 2 }]);
  await expect(slow.append(runId, 'node.completed', 0)).rejects.toThrow(RunTakenOver);
  await expect(other.append(runId, 'node.completed', 1)).rejects.toThrow(RunTakenOver);
  // An event that is no step of an execution, such as a caller's request, belongs to no epoch.
  await other.append(runId, 'log.appended');
  await slow.append(runId, 'run.completed', 2);
});

test('the database ends the transaction of a host that hangs, so that others get its locks', async () => {
  const lock = { name: 'lock', text: 'SELECT pg_advisory_xact_lock(1)' };
  const [hung, other] = [connected(1), connected(1)];
  const [goOn, locked] = [latch(), latch()];
  const slow = hung.transaction(async (transaction) => {
    await hung.within(transaction, lock, []);
    locked.open();
    await goOn.isOpen;
  });
  const rolledBack = expect(slow).rejects.toThrow();
  await locked.isOpen;
  // Resolves although the other transaction never goes on by itself.
  await other.transaction((transaction) => other.within(transaction, lock, []));
  goOn.open();
  await rolledBack;
});

test('a host that hangs while many of its appends wait for the end of the audit log holds up no other host', async () => {
  const network = await frozenNetwork(Number(new URL(postgres.url).port));
  const url = postgres.url.replace(/:[0-9]+\//, `:${network.port}/`);
  const [hung, watcher] = [connected(6, url), connected(1)];
  const fact = (actor: string) => ({
    ...{ action: 'test', actor, target: null, occurredAt: '2026-06-01T00:00:00.000Z', details: {} },
  });
  const letGo = await holding(`SELECT pg_advisory_xact_lock(hashtext('svc svc audit'))`);
  const cut = Array.from({ length: 6 }, (_, at) =>
    hung.transaction((transaction) => auditStore(hung).append([fact(`hung_${at}`)], transaction)),
  );
  const rejected = Promise.allSettled(cut);
  const waiting = { name: 'waiting', text: `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted` };
  await expect.poll(async () => (await watcher.query(waiting, [])).count, { timeout: 20_000 }).toBe(6);
  network.freeze();
  const appended = store.transaction((transaction) => store.audit.append([fact('other')], transaction));
  await expect.poll(async () => (await watcher.query(waiting, [])).count, { timeout: 20_000 }).toBe(7);
  await letGo();
  // With the lock in the hands of the host that hangs, this would take the limit of an idle transaction six times.
  await appended;
  const actors: unknown[] = [];
  for await (const { actor } of store.audit.entries(1, 100)) actors.push(actor);
  expect(actors.slice(-7)).toEqual([...Array(6).fill(expect.stringMatching(/^hung_/)), 'other']);
  await network.close();
  expect((await rejected).map(({ status }) => status)).toEqual(Array(6).fill('rejected'));
});

test('a release of deliveries that waits between two of its steps holds up no append to the audit log', async () => {
  const watcher = connected(1);
  // A step moves 500, so the last of them is in the second.
  const ids = Array.from({ length: 501 }, (_, at) => `whk_${String(at).padStart(4, '0')}`);
  await store.transaction(async (transaction) => {
    for (const webhookId of ids)
      await store.subscriptions.insert(sampleSubscription({ webhookId, status: 'paused' }), transaction);
  });
  await watcher.query(
    { name: 'held', text: 'INSERT INTO held_subscriptions SELECT webhook_id, 0 FROM subscriptions' },
    [],
  );
  const letGo = await holding(`SELECT 1 FROM subscriptions WHERE webhook_id = '${ids.at(-1)}' FOR UPDATE`);
  const released = releaseDeliveries({ url: postgres.url });
  const waiting = { name: 'rows', text: `SELECT 1 FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted` };
  await expect.poll(async () => (await watcher.query(waiting, [])).count, { timeout: 60_000 }).toBe(1);
  const fact = { action: 'test', actor: null, target: null, occurredAt: '2026-06-01T00:00:00.000Z', details: {} };
  // Rejects after 15 s if the release holds the end of the chain.
  await store.transaction((transaction) => store.audit.append([fact], transaction));
  await letGo();
  expect(await released).toBe(501);
  const end = (await store.audit.head())?.atSequence ?? 0;
  const actions: string[] = [];
  for await (const { action } of store.audit.entries(end - 501, end)) actions.push(action);
  expect(actions).toEqual(['test', ...Array(501).fill('webhook.resume')]);
});

test('transactions that append to the audit log and announce a key, in either order, do not deadlock', async () => {
  const database = connected(8);
  const fact = { action: 'test', actor: null, target: null, occurredAt: '2026-06-01T00:00:00.000Z', details: {} };
  const deadlocks = {
    name: 'deadlocks',
    text: 'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
  };
  const append = (transaction: Transaction) => auditStore(database).append([fact], transaction);
  const tell = async (transaction: Transaction) =>
    announce(database, { schema: 'svc', lookup: '0123456789abcdef', subject: 'key_1' }, transaction);
  await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      database.transaction(async (transaction) => {
        for (const step of at % 2 === 0 ? [append, tell] : [tell, append]) await step(transaction);
      }),
    ),
  );
  expect((await database.query(deadlocks, [])).rows).toEqual([{ deadlocks: 0 }]);
});

test('a connection that breaks within a transaction rejects the transaction, and does not end the process', async () => {
  const errors = new EventEmitter();
  const database = openDatabase({
    url: postgres.url,
    schema: 'svc',
    connections: 1,
    onError: () => errors.emit('broken'),
  });
  opened.push(database);
  const end = { name: 'end', text: 'SELECT pg_terminate_backend(pg_backend_pid())' };
  const look = { name: 'look', text: 'SELECT 1 AS one' };
  const firstError = once(errors, 'broken');
  const cut = database.transaction((transaction) => database.within(transaction, end, []));
  await expect(cut).rejects.toThrow();
  await firstError;
  // The same while no statement is under way.
  const idle = database.transaction(async (transaction) => {
    const pid = (await database.within(transaction, { name: 'pid', text: 'SELECT pg_backend_pid() AS pid' }, []))
      .rows[0]?.pid;
    const other = openDatabase({ url: postgres.url, schema: 'svc', connections: 1, onError: () => {} });
    const secondError = once(errors, 'broken');
    await other.query({ name: 'cut', text: 'SELECT pg_terminate_backend($1)' }, [pid]);
    await other.close();
    await secondError;
    return database.within(transaction, look, []);
  });
  await expect(idle).rejects.toThrow();
  expect((await database.query(look, [])).rows).toEqual([{ one: 1 }]);
});

test('a connection that breaks as soon as it is ready rejects its own statements alone', async () => {
  // The server reports that it is ready, and that it terminates, in the same bytes: no caller has the connection yet.
  const message = (type: string, body: string) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(4 + Buffer.byteLength(body));
    return Buffer.concat([Buffer.from(type), length, Buffer.from(body)]);
  };
  const gone = message('E', 'SFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0');
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(Buffer.concat([message('R', '\0\0\0\0'), message('Z', 'I'), gone])));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const told: unknown[] = [];
  const url = `postgres://svc@127.0.0.1:${port}/postgres`;
  const database = openDatabase({ url, schema: 'svc', connections: 1, onError: (cause) => told.push(cause) });
  opened.push(database);
  await expect(database.transaction(async () => {})).rejects.toThrow();
  await expect(database.query({ name: 'look', text: 'SELECT 1' }, [])).rejects.toThrow();
  await expect(postgresStore({ url })).rejects.toThrow();
  expect(told.length).toBeGreaterThan(0);
  server.close();
});

test('statements reject when the network has gone silent', async () => {
  const network = await frozenNetwork(Number(new URL(postgres.url).port));
  const url = postgres.url.replace(/:[0-9]+\//, `:${network.port}/`);
  const database = openDatabase({ url, schema: 'svc', connections: 2, onError: () => {}, statementMs: 400 });
  const look = { name: 'look', text: 'SELECT 1 AS one' };
  try {
    expect((await database.query(look, [])).rows).toEqual([{ one: 1 }]);
    const inside = database.transaction(async (transaction) => {
      network.freeze();
      await database.within(transaction, look, []);
    });
    await expect(inside).rejects.toThrow();
    await expect(database.query(look, [])).rejects.toThrow();
  } finally {
    await database.close();
    await network.close();
  }
});
