import { expect, test } from 'vitest';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { CLAIM } from '../../src/testing/store-contract/samples.ts';
import { deadLetterFacets } from '../../src/webhooks/dead-letter-facets.ts';
import { deliveryIdOf } from '../../src/webhooks/delivery-id.ts';
import { sampleDelivery, sampleSubscription } from './samples.ts';

const HOUR = 3_600_000;
const storeClock = { now: () => 3 * HOUR };

interface Letters {
  readonly webhookId: string;
  readonly eventType?: string;
  readonly lastStatus?: number | undefined;
  readonly at?: number;
  readonly eventTime?: number;
}

/** A store with one dead letter for each entry. */
async function storeOf(letters: readonly Letters[]) {
  const store = memoryStore();
  const webhookIds = [...new Set(letters.map(({ webhookId }) => webhookId))];
  const made = letters.map((letter, sequence) => {
    const { webhookId, eventTime: timestamp = 0 } = letter;
    return { letter, deliveryId: deliveryIdOf({ webhookId, runId: 'run_1', sequence, timestamp }) };
  });
  await store.transaction(async (transaction) => {
    for (const webhookId of webhookIds) {
      await store.subscriptions.insert(sampleSubscription({ webhookId }), transaction);
    }
    const deliveries = made.map(({ letter: { webhookId, eventType = 'run.completed' }, deliveryId }) =>
      sampleDelivery({ deliveryId, webhookId, eventType }),
    );
    await store.deliveries.enqueue(deliveries, transaction);
  });
  const claims = await store.deliveries.claim(CLAIM);
  await store.transaction(async (transaction) => {
    const ended = claims.map((claim) => {
      const { at = 0, lastStatus } = made.find(({ deliveryId }) => deliveryId === claim.deliveryId)?.letter ?? {};
      return { claim, settlement: { kind: 'dead', at, expiresAt: 9 * HOUR, attempts: 1, lastStatus } as const };
    });
    await store.deliveries.settle(ended, transaction);
  });
  return store;
}

test('dead letters are counted by each property, the largest count first, and by time in its order', async () => {
  const store = await storeOf([
    { webhookId: 'whk_1', lastStatus: 500, at: 2 * HOUR },
    { webhookId: 'whk_1', lastStatus: 500, eventType: 'run.failed', at: HOUR + 1 },
    { webhookId: 'whk_2', eventType: 'run.failed', at: HOUR },
    { webhookId: 'whk_2', lastStatus: 404, eventType: 'run.failed', at: 0 },
    { webhookId: 'whk_2', lastStatus: 404, eventType: 'run.failed', at: 0 },
  ]);
  const facets = await deadLetterFacets({ store, storeClock }, ['whk_1', 'whk_2'], {}, HOUR);
  expect(facets).toEqual({
    ...{ matching: 5, lookedAt: 5, isComplete: true },
    eventTypes: [
      { value: 'run.failed', count: 4 },
      { value: 'run.completed', count: 1 },
    ],
    statuses: [
      { value: 404, count: 2 },
      { value: 500, count: 2 },
      { value: 0, count: 1 },
    ],
    subscriptions: [
      { value: 'whk_2', count: 3 },
      { value: 'whk_1', count: 2 },
    ],
    times: [
      { value: 0, count: 2 },
      { value: HOUR, count: 2 },
      { value: 2 * HOUR, count: 1 },
    ],
  });
});

test('the filter is that of a redrive: types, statuses and the time of the event', async () => {
  const store = await storeOf([
    { webhookId: 'whk_1', lastStatus: 500, eventTime: 1000 },
    { webhookId: 'whk_1', lastStatus: 500, eventTime: 2000, eventType: 'run.failed' },
    { webhookId: 'whk_1', eventTime: 3000 },
  ]);
  const matching = async (filter: object) =>
    (await deadLetterFacets({ store, storeClock }, ['whk_1'], filter, HOUR)).matching;
  expect(await matching({ types: ['run.failed'] })).toBe(1);
  expect(await matching({ statuses: [0] })).toBe(1);
  expect(await matching({ since: 2000 })).toBe(2);
  expect(await matching({ until: 2000 })).toBe(1);
  expect(await matching({ since: 1001, until: 3000 })).toBe(1);
  expect(await matching({ types: ['run.failed'], statuses: [0] })).toBe(0);
});

test('at most 100 000 dead letters are looked at, of each subscription in turn', async () => {
  const asked: string[] = [];
  const endless = {
    countDeadLetters: async (webhookId: string, { limit }: { readonly limit: number }) => {
      asked.push(`${webhookId} ${limit}`);
      const counts = [{ eventType: 'run.failed', status: 500, at: 0, count: limit }];
      const last = { deadLetteredAt: 0, deliveryId: 'dlv_1' };
      return { counts, lookedAt: limit, last: webhookId === 'whk_2' ? undefined : last };
    },
  };
  const deliveries = { ...memoryStore().deliveries, ...endless };
  const facets = await deadLetterFacets({ store: { deliveries }, storeClock }, ['whk_1', 'whk_2'], {}, HOUR);
  expect(facets).toMatchObject({ matching: 100_000, lookedAt: 100_000, isComplete: false });
  expect(asked.slice(0, 3)).toEqual(['whk_1 2000', 'whk_2 2000', 'whk_1 2000']);
  expect(asked).toHaveLength(50);
});
