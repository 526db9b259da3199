import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, describe, expect, test } from 'vitest';
import type { LogRecord } from '../../src/ports/log.ts';
import type { Store } from '../../src/ports/store.ts';
import type { WebhookJob } from '../../src/ports/webhook-jobs.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import { CLAIM, sampleEvent, sampleRun } from '../../src/testing/store-contract/samples.ts';
import { stepJobs } from '../../src/webhooks/step-jobs.ts';
import type { NextState } from '../../src/webhooks/subscription-state.ts';
import { sampleDelivery, sampleSubscription } from './samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-jobs-'));
const postgres = await startPostgres();
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});
let files = 0;
const STORES: { readonly name: string; readonly open: () => Store | Promise<Store> }[] = [
  { name: 'memory', open: () => memoryStore() },
  { name: 'sqlite', open: () => sqliteStore(join(folder, `${files++}.db`)) },
  { name: 'postgres', open: () => postgresStore({ url: postgres.url, schema: `jobs_${files++}`, connections: 6 }) },
];
const LETTERS = 230;

/** Opens a store with dead letters of one subscription, and returns the step of a host on it. */
async function dead(open: () => Store | Promise<Store>, job: Partial<WebhookJob> = {}) {
  const store = await open();
  await store.transaction(async (transaction) => {
    await store.subscriptions.insert(sampleSubscription({}), transaction);
    const deliveries = Array.from({ length: LETTERS }, (_, index) =>
      sampleDelivery({ deliveryId: `dlv_${String(index).padStart(4, '0')}`, sequence: index }),
    );
    await store.deliveries.enqueue(deliveries, transaction);
    const running = { jobId: 'job_1', webhookId: 'whk_1', kind: 'redrive', state: 'running', request: {} } as const;
    const counts = { version: 0, lookedAt: 0, queued: 0, nextStepAt: 0, createdAt: 5000, updatedAt: 0 };
    await store.webhookJobs.insert({ ...running, ...counts, rate: 50, ...job }, transaction);
  });
  const claims = await store.deliveries.claim({ ...CLAIM, limit: 1000 });
  const settlement = { kind: 'dead', at: 2000, expiresAt: 9e12, attempts: 3, lastStatus: 500 } as const;
  const ended = claims.map((claim) => ({ claim, settlement }));
  await store.transaction((transaction) => store.deliveries.settle(ended, transaction));
  const time = { now: 6000 };
  const entries: LogRecord[] = [];
  const clock = { now: () => time.now, monotonic: () => time.now, after: () => () => {} };
  const dispatcher = { wake() {} };
  const host = (through: Store, body = new Uint8Array()) => {
    const render = () => ({ eventType: 'run.completed', body });
    const log = (entry: LogRecord) => void entries.push(entry);
    const step = stepJobs({ store: through, clock, storeClock: clock, log, dispatcher, render });
    return () => step(new AbortController().signal);
  };
  const read = () => store.webhookJobs.read('whk_1', 'job_1');
  return { store, time, entries, host, read };
}

describe.each(STORES)(`in the $name store: ${covers('webhooks.redrive-job.steps')}`, ({ open }) => {
  test('a job queues no more than its rate in a second, and ends when nothing is left', async () => {
    const { store, time, host, read } = await dead(open);
    const step = host(store);
    await step();
    expect(await read()).toMatchObject({ queued: 50, lookedAt: 50, state: 'running', nextStepAt: 7000 });
    await step();
    expect((await read())?.queued).toBe(50);
    for (let second = 1; second < 6; second++) {
      time.now = 6000 + 1000 * second;
      await step();
    }
    expect(await read()).toMatchObject({ queued: LETTERS, lookedAt: LETTERS, state: 'completed' });
    expect(await store.deliveries.deadLetters('whk_1', { limit: 1, now: 0 })).toEqual([]);
    await store.close();
  });

  test('two hosts that step a job at the same time count each dead letter once', async () => {
    const { store, host, read } = await dead(open, { rate: 10_000 });
    await Promise.all([host(store)(), host(store)(), host(store)()]);
    expect(await read()).toMatchObject({ queued: LETTERS, lookedAt: LETTERS, state: 'completed' });
    expect(await store.deliveries.claim({ ...CLAIM, now: 9000, limit: 1000 })).toHaveLength(LETTERS);
    await store.close();
  });

  test('a host that dies before its commit leaves the step to another one', async () => {
    const { store, host, read, time, entries } = await dead(open);
    const dying: Store = {
      ...store,
      deliveries: {
        ...store.deliveries,
        async redrive(request, transaction) {
          await store.deliveries.redrive(request, transaction);
          throw new Error('the host dies');
        },
      },
    };
    await host(dying)();
    expect(await read()).toMatchObject({ queued: 0, state: 'running' });
    expect(entries).toMatchObject([{ event: 'webhook-job.step-failed', jobId: 'job_1' }]);
    expect(await store.deliveries.deadLetters('whk_1', { limit: 1000, now: 0 })).toHaveLength(LETTERS);
    time.now += 10_000;
    await host(store)();
    expect(await read()).toMatchObject({ queued: 50, lookedAt: 50 });
    await store.close();
  });

  test('a job fails when its subscription has failed', async () => {
    const { store, host, read } = await dead(open);
    await store.transaction((transaction) =>
      store.subscriptions.updateState(
        'whk_1',
        ({ circuit, failures }) => ({ status: 'failed', circuit, failures }),
        transaction,
      ),
    );
    await host(store)();
    expect(await read()).toMatchObject({ state: 'failed', queued: 0 });
    await store.close();
  });

  test('a redrive ends when only dead letters are left that are newer than the job', async () => {
    const { store, host, read } = await dead(open, { createdAt: 1999, rate: 100 });
    const step = host(store);
    for (let times = 0; times < 4; times++) await step();
    expect(await read()).toMatchObject({ state: 'completed', queued: 0, lookedAt: 0 });
    expect(await store.deliveries.deadLetters('whk_1', { limit: 1000, now: 0 })).toHaveLength(LETTERS);
    await store.close();
  });

  test.each([
    ['redrive', {}],
    ['transfer', { to: 'whk_2' }],
  ] as const)('a %s takes the dead letters that a clock ahead has stored', async (kind, request) => {
    const { store, host, read, time } = await dead(open, { kind, request, createdAt: 900, rate: 100 });
    await store.transaction((transaction) =>
      store.subscriptions.insert(sampleSubscription({ webhookId: 'whk_2' }), transaction),
    );
    if (kind === 'transfer') {
      const failed: NextState = ({ circuit, failures }) => ({ status: 'failed', circuit, failures });
      await store.transaction((transaction) => store.subscriptions.updateState('whk_1', failed, transaction));
    }
    const step = host(store);
    for (time.now = 1000; time.now < 1999; time.now += 333) {
      await step();
      await store.transaction((transaction) =>
        store.webhookJobs.change('job_1', (job) => ({ ...job, nextStepAt: 0 }), transaction),
      );
    }
    expect(await read()).toMatchObject({ state: 'completed', queued: LETTERS, lookedAt: LETTERS });
    expect(await store.deliveries.deadLetters('whk_1', { limit: 1, now: 0 })).toEqual([]);
    await store.close();
  });

  test('a transfer ends when only dead letters are left that are newer than the job', async () => {
    const { store, host, read } = await dead(open, { kind: 'transfer', request: { to: 'whk_2' }, createdAt: 1999 });
    await store.transaction(async (transaction) => {
      await store.subscriptions.insert(sampleSubscription({ webhookId: 'whk_2' }), transaction);
      const failed: NextState = ({ circuit, failures }) => ({ status: 'failed', circuit, failures });
      await store.subscriptions.updateState('whk_1', failed, transaction);
    });
    await host(store)();
    expect(await read()).toMatchObject({ state: 'completed', queued: 0, version: 1 });
    expect(await store.deliveries.deadLetters('whk_1', { limit: 1000, now: 0 })).toHaveLength(LETTERS);
    await store.close();
  });

  test('a step of a replay queues about 4 MiB at most, and the next one goes on after it', async () => {
    const { store, time, host, read } = await dead(open, REPLAY);
    await store.transaction(async (transaction) => {
      for (let index = 0; index < 12; index++) {
        const run = sampleRun({ runId: `run_0${index}`, completedAt: 4000, lastSequence: 0, status: 'completed' });
        const event = { eventId: `evt_replay_${index}`, type: 'run.completed', sequence: 0, timestamp: 4000 };
        await store.runs.insert(run, transaction);
        await store.events.insert([{ ...sampleEvent(0), ...event, runId: run.runId }], transaction);
      }
    });
    const step = host(store, new Uint8Array(1_048_576));
    await step();
    expect(await read()).toMatchObject({ state: 'running', queued: 4, lookedAt: 4 });
    for (time.now = 7000; time.now <= 9000; time.now += 1000) await step();
    expect(await read()).toMatchObject({ state: 'completed', queued: 12, lookedAt: 12 });
    await store.close();
  });
});

const REPLAY = { kind: 'replay', request: { since: 3000 }, rate: 500 } as const;
