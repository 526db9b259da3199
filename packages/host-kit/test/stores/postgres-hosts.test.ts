import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { frozenNetwork } from '@svc/tools/frozen-network';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../src/ports/clock.ts';
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

const HELD_MS = 100;
const PAGE = { after: undefined, limit: 10 };

/** A host as the database sees it: it holds runs, and says that it is alive only when it is told to. */
function host(name: string) {
  const database = openDatabase({ url: postgres.url, schema: 'svc', connections: 2, onError: () => {} });
  opened.push(database);
  const runs = runStore(database, name, HELD_MS);
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
    append: (runId: string, type: string, epoch?: number) => events.append(runId, { type, payload: {} }, epoch),
  };
}

test('a host that was too slow to keep its run appends no more steps of it, not even after it got it back', async () => {
  const [slow, other] = [host('slow'), host('other')];
  const { runId } = sampleRun({});
  await slow.transaction((transaction) => slow.runs.insert(sampleRun({}), transaction));
  await slow.append(runId, 'run.started', 0);
  await new Promise((resolve) => setTimeout(resolve, 2 * HELD_MS));
  // Nobody took it meanwhile, so it is still its own.
  await slow.append(runId, 'node.started', 0);

  const [taken] = await other.runs.unfinished(PAGE);
  expect(taken).toMatchObject({ runId, epoch: 1, lastSequence: 1 });
  await expect(slow.append(runId, 'node.completed', 0)).rejects.toThrow(RunTakenOver);
  expect(await slow.runs.unfinished(PAGE)).toEqual([]);
  await other.append(runId, 'node.completed', 1);

  await new Promise((resolve) => setTimeout(resolve, 2 * HELD_MS));
  expect(await slow.runs.unfinished(PAGE)).toMatchObject([{ runId, epoch: 2 }]);
  await expect(slow.append(runId, 'node.completed', 0)).rejects.toThrow(RunTakenOver);
  await expect(other.append(runId, 'node.completed', 1)).rejects.toThrow(RunTakenOver);
  // What is no step of an execution, such as what a caller asked for, belongs to no epoch.
  await other.append(runId, 'log.appended');
  await slow.append(runId, 'run.completed', 2);
});

test('a host that stands still in the middle of a transaction holds the others up for a few seconds, and not for long', async () => {
  const database = openDatabase({ url: postgres.url, schema: 'svc', connections: 1, onError: () => {} });
  opened.push(database);
  const fact = { action: 'test', actor: null, target: null, occurredAt: new Date().toISOString(), details: {} };
  let goOn = () => {};
  const stalled = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let isLocked = false;
  const slow = database.transaction(async (transaction) => {
    await auditStore(database).append([fact], transaction);
    isLocked = true;
    await stalled;
  });
  const rolledBack = expect(slow).rejects.toThrow();
  await expect.poll(() => isLocked).toBe(true);
  const began = Date.now();
  await store.transaction((transaction) => store.audit.append([fact], transaction));
  expect(Date.now() - began).toBeLessThan(15_000);
  goOn();
  await rolledBack;
}, 30_000);

test('a connection that breaks in the middle of a transaction ends the transaction, and not the process', async () => {
  const told: unknown[] = [];
  const database = openDatabase({
    url: postgres.url,
    schema: 'svc',
    connections: 1,
    onError: (cause) => told.push(cause),
  });
  opened.push(database);
  const end = { name: 'end', text: 'SELECT pg_terminate_backend(pg_backend_pid())' };
  const look = { name: 'look', text: 'SELECT 1 AS one' };
  const cut = database.transaction((transaction) => database.within(transaction, end, []));
  await expect(cut).rejects.toThrow();
  await expect.poll(() => told.length).toBeGreaterThan(0);
  // While nobody waits for an answer, too.
  const idle = database.transaction(async (transaction) => {
    const pid = (await database.within(transaction, { name: 'pid', text: 'SELECT pg_backend_pid() AS pid' }, []))
      .rows[0]?.pid;
    const other = openDatabase({ url: postgres.url, schema: 'svc', connections: 1, onError: () => {} });
    await other.query({ name: 'cut', text: 'SELECT pg_terminate_backend($1)' }, [pid]);
    await other.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    return database.within(transaction, look, []);
  });
  await expect(idle).rejects.toThrow();
  expect((await database.query(look, [])).rows).toEqual([{ one: 1 }]);
});

test('a connection that breaks with its first breath ends nothing but what was to be done on it', async () => {
  // Ready, and gone, in the same bytes: nobody has been handed the connection yet.
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

test('a network that has gone silent ends what waits for it, and costs the connection', async () => {
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
}, 30_000);
