import { randomBytes } from 'node:crypto';
import { anonymousActor } from '@svc/auth';
import { egressPolicy } from '@svc/egress-guard';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/ports/clock.ts';
import { systemRandom } from '../../src/ports/random.ts';
import type { Store } from '../../src/ports/store.ts';
import { READING_GOOD_FOR_MS } from '../../src/ports/subscriptions.ts';
import { secretBox } from '../../src/sealing/secret-box.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { sampleRun, TENANCY } from '../../src/testing/store-contract/samples.ts';
import { pushes } from '../../src/webhooks/push.ts';

const postgres = await startPostgres();
afterAll(() => postgres.stop());

const RUN = sampleRun({ status: 'running' });
const CALLER = anonymousActor({ tenancy: TENANCY, issuer: 'urn:svc:host', randomBytes });
const asked = (name: string) => ({
  ...{ name, format: 'f', url: 'https://hooks.example/', events: ['run.completed'], secret: 's' },
});

async function opened(store: Store, clock: Clock = systemClock, heard: string[] = []) {
  await store.transaction((transaction) => store.runs.insert(RUN, transaction));
  const forget = async (webhookId: string) => {
    const isThere = (await store.subscriptions.read(webhookId)) !== undefined;
    heard.push(`${webhookId} ${isThere ? 'is there' : 'is gone'}`);
  };
  const service = pushes({
    store,
    clock,
    random: systemRandom,
    egress: egressPolicy(),
    secrets: secretBox(randomBytes(32), randomBytes),
    dispatcher: { forget: (webhookId) => void forget(webhookId) },
    recordAudit: async () => {},
  });
  return service;
}

test('the dispatcher hears of a push that is gone when it is gone, so that it begins nothing meanwhile', async () => {
  const inner = memoryStore();
  const heard: string[] = [];
  const store: Store = {
    ...inner,
    transaction: (work) =>
      inner.transaction(async (transaction) => {
        const result = await work(transaction);
        // Only the commit is missing.
        expect(heard).toEqual([]);
        return result;
      }),
  };
  const { add, remove } = await opened(store, systemClock, heard);
  const first = await add(CALLER, RUN, asked('a'));
  expect(await remove(CALLER, RUN, 'a')).toBe(true);
  await expect.poll(() => heard).toEqual([`${first.webhookId} is gone`]);
});

test('where hosts share a store, a push is said to be gone or replaced when no other host begins an attempt any more', async () => {
  const waits: number[] = [];
  const clock: Clock = {
    now: systemClock.now,
    at(time, run) {
      waits.push(time - systemClock.now());
      return systemClock.at(time, run);
    },
  };
  const { add, remove } = await opened({ ...memoryStore(), shared: true }, clock);
  await add(CALLER, RUN, asked('a'));
  expect(waits).toEqual([]);
  for (const change of [() => add(CALLER, RUN, asked('a')), () => remove(CALLER, RUN, 'a')]) {
    const began = Date.now();
    await change();
    expect(Date.now() - began).toBeGreaterThanOrEqual(READING_GOOD_FOR_MS);
  }
});

test('of pushes that are added at the same time one has each name, and there are no more than allowed', async () => {
  const store = await postgresStore({ url: postgres.url, connections: 8 });
  try {
    const { add, list } = await opened(store);
    const names = ['a', 'a', 'a', 'a', ...Array.from({ length: 12 }, (_, index) => `b${index}`)];
    await Promise.allSettled(names.map((name) => add(CALLER, RUN, asked(name))));
    const found = (await list(CALLER, RUN)).map(({ push }) => push?.name);
    expect(new Set(found).size).toBe(found.length);
    expect(found.length).toBe(10);
  } finally {
    await store.close();
  }
});
