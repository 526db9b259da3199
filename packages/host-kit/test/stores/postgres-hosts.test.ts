import { EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { frozenNetwork } from '@svc/tools/frozen-network';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, expect, test } from 'vitest';
import { EVENT_TYPES, payloadExample } from '../../src/events/event-types.ts';
import { systemClock } from '../../src/ports/clock.ts';
import type { NewEvent } from '../../src/ports/engine.ts';
import { systemRandom } from '../../src/ports/random.ts';
import { eventLog, RunTakenOver } from '../../src/runs/event-log.ts';
import { auditStore } from '../../src/stores/postgres/audit.ts';
import { type Database, openDatabase } from '../../src/stores/postgres/database.ts';
import { eventStore } from '../../src/stores/postgres/events.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { runStore } from '../../src/stores/postgres/runs.ts';
import { sampleRun } from '../../src/testing/store-contract/samples.ts';

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

test('the database ends the transaction of a host that hangs, so that others can append to the audit log', async () => {
  const database = openDatabase({ url: postgres.url, schema: 'svc', connections: 1, onError: () => {} });
  opened.push(database);
  const fact = { action: 'test', actor: null, target: null, occurredAt: new Date().toISOString(), details: {} };
  let goOn = () => {};
  const stalled = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let locked = () => {};
  const isLocked = new Promise<void>((resolve) => {
    locked = resolve;
  });
  const slow = database.transaction(async (transaction) => {
    await auditStore(database).append([fact], transaction);
    locked();
    await stalled;
  });
  const rolledBack = expect(slow).rejects.toThrow();
  await isLocked;
  // Resolves although the other transaction never goes on by itself.
  await store.transaction((transaction) => store.audit.append([fact], transaction));
  goOn();
  await rolledBack;
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
