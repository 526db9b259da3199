import { startPostgres } from '@svc/tools/postgres';
import { afterAll, afterEach, expect, test } from 'vitest';
import type { AttemptRecord } from '../../src/ports/attempts.ts';
import type { Store } from '../../src/ports/store.ts';
import type { Transaction } from '../../src/ports/transaction.ts';
import { type Database, openDatabase } from '../../src/stores/postgres/database.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { sampleSubscription, TENANCY } from '../../src/testing/store-contract/samples.ts';

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
