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

/** Two hosts that share a database. */
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

/** A transaction that goes on when it is told to, and how often it was begun. */
function inSteps(store: Store, ...steps: readonly ((transaction: Transaction) => Promise<unknown>)[]) {
  const go: (() => void)[] = [];
  const gates = steps.map((_, index) => new Promise<void>((resolve) => (go[index] = resolve)));
  const done: number[] = [];
  let begun = 0;
  const ended = store.transaction(async (transaction) => {
    begun++;
    for (const [index, step] of steps.entries()) {
      await gates[index];
      await step(transaction);
      done[index] = begun;
    }
  });
  return {
    ended,
    begun: () => begun,
    async step(index: number) {
      go[index]?.();
      await expect.poll(() => done[index], { timeout: 8000, interval: 5 }).toBeDefined();
    },
    go: (index: number) => go[index]?.(),
  };
}

test('a subscription is removed while an attempt at it is recorded, and neither waits for the other in a circle', async () => {
  const [one, other] = await twoHosts();
  await one.transaction((transaction) => one.subscriptions.insert(sampleSubscription({}), transaction));
  await one.transaction((transaction) => one.attempts.record(attempts(100), transaction));
  await one.transaction((transaction) => one.attempts.record(attempts(20), transaction));
  const settling = inSteps(
    other,
    // It has not looked for a long time, and removes the oldest ones.
    (transaction) => other.attempts.record([attempt(1)], transaction),
    (transaction) => other.subscriptions.updateState('whk_1', unchanged, transaction),
  );
  await settling.step(0);
  const removing = inSteps(one, (transaction) => remove(one, transaction));
  removing.go(0);
  await new Promise((resolve) => setTimeout(resolve, 200));
  settling.go(1);
  await Promise.all([settling.ended, removing.ended]);
  // The database undid neither because of the other.
  expect([settling.begun(), removing.begun()]).toEqual([1, 1]);
});

test('what is recorded of a subscription while it is being removed goes with the next sweep', async () => {
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
  expect(await one.deliveries.sweep(Date.now(), 2)).toBe(2);
  expect(await one.deliveries.sweep(Date.now(), 2)).toBe(1);
  expect(await one.deliveries.sweep(Date.now(), 2)).toBe(0);
  expect(await kept()).toEqual(['whk_2']);
});

test('a transaction in which a statement failed is not said to be kept, although nobody minded the failure', async () => {
  const [store] = await twoHosts();
  const subscription = sampleSubscription({});
  const careless = store.transaction(async (transaction) => {
    await store.subscriptions.insert(subscription, transaction);
    await store.subscriptions.insert(subscription, transaction).catch(() => {});
  });
  await expect(careless).rejects.toThrow('undone');
  expect(await store.subscriptions.read('whk_1')).toBe(undefined);
});
