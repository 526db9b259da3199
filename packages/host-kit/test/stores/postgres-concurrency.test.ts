import { startPostgres } from '@svc/tools/postgres';
import { afterAll, afterEach, expect, test } from 'vitest';
import type { AttemptRecord } from '../../src/ports/attempts.ts';
import { ANSWERS_KEPT } from '../../src/ports/captured-answers.ts';
import { BEFORE_ALL_EVENTS } from '../../src/ports/events.ts';
import type { Store } from '../../src/ports/store.ts';
import type { Transaction } from '../../src/ports/transaction.ts';
import { type Database, openDatabase } from '../../src/stores/postgres/database.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { sampleEvent, sampleRun, sampleSubscription, TENANCY } from '../../src/testing/store-contract/samples.ts';

const postgres = await startPostgres();
let database: Database;
const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});
afterAll(() => postgres.stop());
let schemas = 0;

/** Opens the stores of two hosts that share a database. */
async function twoHosts(): Promise<readonly [Store, Store]> {
  const schema = `concurrency_${schemas++}`;
  const open = () => postgresStore({ url: postgres.url, schema, connections: 4 });
  const [one, other] = [await open(), await open()];
  database = openDatabase({ url: postgres.url, schema, connections: 1, onError: () => {} });
  opened.push(one, other, database);
  return [one, other];
}

function attempt(at: number): AttemptRecord {
  return {
    ...{ deliveryId: 'dlv_1', webhookId: 'whk_1', runId: 'run_1', sequence: 1, eventType: 'run.completed' },
    ...{ attempt: 1, at, durationMs: 1, outcome: 'delivered', status: 204, reason: undefined },
  };
}

const attempts = (length: number) => Array.from({ length }, (_, at) => attempt(at));
const unchanged = ({ status, circuit, failures }: ReturnType<typeof sampleSubscription>) => ({
  ...{ status, circuit, failures },
});
const remove = (store: Store, transaction: Transaction) => store.subscriptions.remove(TENANCY, 'whk_1', transaction);

/** A transaction whose steps begin when the test says so. `begun` counts its tries. */
function inSteps(store: Store, ...steps: readonly ((transaction: Transaction) => Promise<unknown>)[]) {
  const go: (() => void)[] = [];
  const gates = steps.map((_, index) => new Promise<void>((resolve) => (go[index] = resolve)));
  const finish: (() => void)[] = [];
  const finished = steps.map((_, index) => new Promise<void>((resolve) => (finish[index] = resolve)));
  let begun = 0;
  const ended = store.transaction(async (transaction) => {
    begun++;
    for (const [index, step] of steps.entries()) {
      await gates[index];
      await step(transaction);
      finish[index]?.();
    }
  });
  return {
    ended,
    begun: () => begun,
    async step(index: number) {
      go[index]?.();
      await finished[index];
    },
    go: (index: number) => go[index]?.(),
  };
}

test('the removal of a subscription and the record of an attempt for it do not deadlock', async () => {
  const [one, other] = await twoHosts();
  await one.transaction((transaction) => one.subscriptions.insert(sampleSubscription({}), transaction));
  await one.transaction((transaction) => one.attempts.record(attempts(100), transaction));
  await one.transaction((transaction) => one.attempts.record(attempts(20), transaction));
  const settling = inSteps(
    other,
    // The first record of this host prunes, so it locks the oldest attempts.
    (transaction) => other.attempts.record([attempt(1)], transaction),
    (transaction) => other.subscriptions.updateState('whk_1', unchanged, transaction),
  );
  await settling.step(0);
  const removing = inSteps(
    one,
    (transaction) => remove(one, transaction),
    async () => {},
  );
  // The removal does not wait for the locked attempts, and now holds the lock on the subscription that `settling` needs
  // next.
  await removing.step(0);
  settling.go(1);
  removing.go(1);
  await Promise.all([settling.ended, removing.ended]);
  // Neither was rolled back and tried again because of the other.
  expect([settling.begun(), removing.begun()]).toEqual([1, 1]);
});

test('a sweep deletes attempts that were recorded while their subscription was being removed', async () => {
  const [one, other] = await twoHosts();
  await one.transaction((transaction) => one.subscriptions.insert(sampleSubscription({}), transaction));
  await one.transaction((transaction) =>
    one.subscriptions.insert(sampleSubscription({ webhookId: 'whk_2' }), transaction),
  );
  await one.transaction((transaction) => one.attempts.record([{ ...attempt(1), webhookId: 'whk_2' }], transaction));
  const settling = inSteps(
    other,
    (transaction) => other.attempts.record(attempts(3), transaction),
    async () => {},
  );
  await settling.step(0);
  await one.transaction((transaction) => remove(one, transaction));
  settling.go(1);
  await settling.ended;
  const look = { name: 'look', text: 'SELECT webhook_id FROM attempts ORDER BY position' };
  const kept = async () => (await database.query(look, [])).rows.map((row) => row.webhook_id);
  expect(await kept()).toEqual(['whk_2', 'whk_1', 'whk_1', 'whk_1']);
  expect(await one.deliveries.sweep(1000, 2)).toBe(2);
  expect(await one.deliveries.sweep(1000, 2)).toBe(1);
  expect(await one.deliveries.sweep(1000, 2)).toBe(0);
  expect(await kept()).toEqual(['whk_2']);
});

const answer = (attempt: number) => ({
  ...{ webhookId: 'whk_1', deliveryId: 'dlv_1', attempt, at: attempt, expiresAt: 90, sealed: Uint8Array.of(1) },
});

test('an answer that is captured while its subscription is being removed is left out, and fails no settlement', async () => {
  const [one, other] = await twoHosts();
  await one.transaction((transaction) => one.subscriptions.insert(sampleSubscription({}), transaction));
  const removing = inSteps(
    one,
    (transaction) => remove(one, transaction),
    async () => {},
  );
  await removing.step(0);
  const settling = inSteps(other, (transaction) => other.capturedAnswers.add([answer(1)], transaction));
  settling.go(0);
  await someoneWaits();
  removing.go(1);
  await Promise.all([removing.ended, settling.ended]);
  expect(settling.begun()).toBe(1);
  expect(await one.capturedAnswers.page({ after: 0, limit: 5 })).toEqual([]);
});

test('the removal of a subscription and the settlements of two hosts with answers do not deadlock', async () => {
  const [one, other] = await twoHosts();
  await one.transaction((transaction) => one.subscriptions.insert(sampleSubscription({}), transaction));
  const settling = [one, other].map((store) =>
    inSteps(
      store,
      (transaction) => store.capturedAnswers.add([answer(1)], transaction),
      (transaction) => store.subscriptions.updateState('whk_1', unchanged, transaction),
    ),
  );
  for (const each of settling) await each.step(0);
  const removing = inSteps(one, (transaction) => remove(one, transaction));
  removing.go(0);
  await someoneWaits();
  for (const each of settling) each.go(1);
  await Promise.all([removing, ...settling].map(({ ended }) => ended));
  expect([removing, ...settling].map(({ begun }) => begun())).toEqual([1, 1, 1]);
  expect(await one.capturedAnswers.page({ after: 0, limit: 5 })).toEqual([]);
});

test('an answer writes into no row of the answers that are kept', async () => {
  const [one] = await twoHosts();
  await one.transaction((transaction) => one.subscriptions.insert(sampleSubscription({}), transaction));
  const many = Array.from({ length: ANSWERS_KEPT + 1 }, (_, index) => answer(index + 1));
  await one.transaction((transaction) => one.capturedAnswers.add(many, transaction));
  // A row that a transaction has locked names it in `xmax`.
  const look = { name: 'look', text: 'SELECT count(*)::text AS kept FROM captured_answers WHERE xmax::text = $1' };
  expect((await database.query(look, ['0'])).rows).toEqual([{ kept: String(ANSWERS_KEPT) }]);
});

/** Resolves when a transaction of another connection waits for a lock. */
async function someoneWaits(): Promise<void> {
  const look = {
    name: 'waits',
    text: `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  };
  while ((await database.query(look, [])).count === 0) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('a transaction rejects when its work ignored a failed statement', async () => {
  const [store] = await twoHosts();
  const subscription = sampleSubscription({});
  const careless = store.transaction(async (transaction) => {
    await store.subscriptions.insert(subscription, transaction);
    await store.subscriptions.insert(subscription, transaction).catch(() => {});
  });
  await expect(careless).rejects.toThrow('rolled back');
  expect(await store.subscriptions.read('whk_1')).toBe(undefined);
});

const eventOf = (runId: string) => ({ ...sampleEvent(0), runId, eventId: `evt_${runId}` });
const appended = (store: Store, runId: string) =>
  store.transaction(async (transaction) => {
    await store.runs.insert(sampleRun({ runId }), transaction);
    await store.events.insert([eventOf(runId)], transaction);
  });
async function runsAfter(store: Store, after = BEFORE_ALL_EVENTS) {
  const { events, last } = await store.events.listAll(TENANCY, { after, limit: 100 });
  return { runIds: events.map(({ event }) => event.runId), last };
}

test('an event that commits after events of later transactions is listed among those of all runs', async () => {
  const [one, other] = await twoHosts();
  await appended(one, 'run_1');
  const first = await runsAfter(other);
  expect(first.runIds).toEqual(['run_1']);
  const late = inSteps(
    one,
    async (transaction) => {
      await one.runs.insert(sampleRun({ runId: 'run_late' }), transaction);
      await one.events.insert([eventOf('run_late')], transaction);
    },
    async () => {},
  );
  await late.step(0);
  await appended(other, 'run_2');
  // The event of `run_2` is committed, but to list it now would skip the one that is not.
  for (const store of [one, other]) {
    expect(await runsAfter(store, first.last)).toEqual({ runIds: [], last: first.last });
    expect(await store.events.newest()).toEqual(first.last);
  }
  late.go(1);
  await late.ended;
  expect((await runsAfter(other, first.last)).runIds).toEqual(['run_late', 'run_2']);
});

test('a transaction that is undone holds no event back', async () => {
  const [one, other] = await twoHosts();
  const undone = inSteps(
    one,
    (transaction) => one.events.insert([eventOf('run_undone')], transaction),
    () => Promise.reject(new Error('undone')),
  );
  await undone.step(0);
  await appended(other, 'run_1');
  undone.go(1);
  await expect(undone.ended).rejects.toThrow('undone');
  expect((await runsAfter(other)).runIds).toEqual(['run_1']);
});

test('new events are listed after the stored ones in a server that has executed fewer transactions', async () => {
  const [one] = await twoHosts();
  await appended(one, 'run_1');
  // As after a restore: the stored positions are those of another server, and higher than any that this one gives.
  const shift = { name: 'shift', text: 'UPDATE events SET commit_order = commit_order + 1000000000' };
  await database.query(shift, []);
  const schema = `concurrency_${schemas - 1}`;
  const restored = await postgresStore({ url: postgres.url, schema, connections: 4 });
  opened.push(restored);
  const before = await runsAfter(restored);
  expect(before.runIds).toEqual(['run_1']);
  await appended(restored, 'run_2');
  expect((await runsAfter(restored, before.last)).runIds).toEqual(['run_2']);
  const again = await postgresStore({ url: postgres.url, schema, connections: 4 });
  opened.push(again);
  await appended(again, 'run_3');
  expect((await runsAfter(again, before.last)).runIds).toEqual(['run_2', 'run_3']);
});

test('a claim that finds nothing due is not soon repeated, however many tenants have deliveries that wait', async () => {
  const [store] = await twoHosts();
  const insert = `INSERT INTO deliveries
      (delivery_id, webhook_id, run_id, event_id, sequence, event_type, body, attempts, due_at, state, tenant)
    SELECT 'dlv_' || n, 'whk_' || n, 'run_1', 'evt_1', 1, 'run.started', 'x', 0, 90000, 'waiting', 'tenant_' || n
    FROM generate_series(1, 300) AS n`;
  await database.query({ name: 'insert-waiting', text: insert }, []);
  const room = { hasRoomFor: () => true, capacityOf: () => 1, take: () => {} };
  expect(await store.deliveries.claim({ now: 1000, leaseUntil: 9000, limit: 10, room })).toEqual([]);
  expect(await store.deliveries.nextDueAfter(1000)).toBe(90_000);
  // Now every delivery is due, and none has a subscription: the next claim goes on with the other tenants.
  expect(await store.deliveries.claim({ now: 95_000, leaseUntil: 99_000, limit: 10, room })).toEqual([]);
  expect(await store.deliveries.nextDueAfter(95_000)).toBe(95_050);
});
