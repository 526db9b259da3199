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
import { virtualClock } from '../simulation/virtual-clock.ts';

const postgres = await startPostgres();
afterAll(() => postgres.stop());

const RUN = sampleRun({ status: 'running' });
const CALLER = anonymousActor({ tenancy: TENANCY, issuer: 'urn:svc:host', randomBytes });
const asked = (name: string) => ({
  ...{ name, format: 'f', url: 'https://hooks.example/', events: ['run.completed'], secret: 's' },
});

async function opened(store: Store, clock: Clock = systemClock, forget: (webhookId: string) => void = () => {}) {
  await store.transaction((transaction) => store.runs.insert(RUN, transaction));
  return pushes({
    store,
    clock,
    random: systemRandom,
    egress: egressPolicy(),
    secrets: secretBox(randomBytes(32), randomBytes),
    dispatcher: { forget },
    recordAudit: async () => {},
  });
}

test('tells the dispatcher of a removed push after the commit, so that no attempt begins in between', async () => {
  const inner = memoryStore();
  const forgotten: string[] = [];
  const store: Store = {
    ...inner,
    transaction: (work) =>
      inner.transaction(async (transaction) => {
        const result = await work(transaction);
        expect(forgotten).toEqual([]);
        return result;
      }),
  };
  const { add, remove } = await opened(store, systemClock, (webhookId) => forgotten.push(webhookId));
  const first = await add(CALLER, RUN, asked('a'));
  expect(await remove(CALLER, RUN, 'a')).toBe(true);
  expect(forgotten).toEqual([first.webhookId]);
  expect(await store.subscriptions.read(first.webhookId)).toBeUndefined();
});

test('where hosts share a store, answers a removal or a replacement when no host begins an attempt any more', async () => {
  const world = virtualClock(0);
  const { add, remove } = await opened({ ...memoryStore(), shared: true }, world);
  await add(CALLER, RUN, asked('a'));
  for (const change of [() => add(CALLER, RUN, asked('a')), () => remove(CALLER, RUN, 'a')]) {
    let isAnswered = false;
    const began = world.now();
    const answered = change().then(() => {
      isAnswered = true;
    });
    world.at(began + READING_GOOD_FOR_MS, () => {});
    await world.run(began + READING_GOOD_FOR_MS);
    expect([world.now(), isAnswered]).toEqual([began + READING_GOOD_FOR_MS, false]);
    await world.run(began + 10 * READING_GOOD_FOR_MS);
    await answered;
  }
});

test('pushes that are added at the same time have distinct names, and never exceed the limit', async () => {
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
