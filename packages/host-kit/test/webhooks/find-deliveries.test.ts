import { expect, test } from 'vitest';
import type { AttemptRecord } from '../../src/ports/attempts.ts';
import type { Store } from '../../src/ports/store.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { CLAIM } from '../../src/testing/store-contract/samples.ts';
import { deliveryIdOf } from '../../src/webhooks/delivery-id.ts';
import { type DeliveryCursor, type DeliveryFilter, listDeliveries } from '../../src/webhooks/find-deliveries.ts';
import { sampleDelivery, sampleSubscription } from './samples.ts';

const subscription = sampleSubscription({});
const storeClock = { now: () => 9000 };
const ALL: DeliveryFilter = { state: undefined, type: undefined, since: undefined, until: undefined };
const idOf = (sequence: number) =>
  deliveryIdOf({ webhookId: 'whk_1', runId: 'run_1', sequence, timestamp: 1_780_000_000_000 + sequence });
const delivery = (sequence: number, eventType = 'run.completed') =>
  sampleDelivery({ deliveryId: idOf(sequence), sequence, eventType, dueAt: 1000 });

function attempt(sequence: number, outcome: AttemptRecord['outcome'], at: number): AttemptRecord {
  const { deliveryId, webhookId, runId, eventType } = delivery(sequence);
  const record = { deliveryId, webhookId, runId, eventType, sequence, attempt: 1, at, durationMs: 1, outcome };
  return { ...record, status: outcome === 'delivered' ? 200 : 500, reason: undefined };
}

/** 0 to 2 wait, 3 to 5 are dead, 6 to 8 were delivered. */
async function stored(): Promise<Store> {
  const store = memoryStore();
  await store.transaction(async (transaction) => {
    await store.subscriptions.insert(subscription, transaction);
    const dead = [3, 4, 5].map((sequence) => delivery(sequence, 'run.failed'));
    await store.deliveries.enqueue(dead, transaction);
  });
  const claims = await store.deliveries.claim(CLAIM);
  await store.transaction(async (transaction) => {
    const ended = claims.map((claim) => ({
      claim,
      settlement: { kind: 'dead', at: 2000 + claim.sequence, expiresAt: 9e12, attempts: 3, lastStatus: 500 } as const,
    }));
    await store.deliveries.settle(ended, transaction);
    await store.deliveries.enqueue(
      [0, 1, 2].map((sequence) => delivery(sequence)),
      transaction,
    );
    await store.attempts.record([attempt(0, 'failed', 3000), attempt(3, 'failed', 3001)], transaction);
    await store.attempts.record(
      [6, 7, 8].map((sequence) => attempt(sequence, 'delivered', 3000 + sequence)),
      transaction,
    );
  });
  return store;
}

async function listed(filter: Partial<DeliveryFilter>, limit: number): Promise<readonly number[]> {
  const store = await stored();
  const found: number[] = [];
  let from: DeliveryCursor | undefined;
  for (let pages = 0; pages < 20; pages++) {
    const page = await listDeliveries({ store, storeClock }, subscription, { ...ALL, ...filter }, { from, limit });
    expect(page.deliveries.length).toBeLessThanOrEqual(limit);
    found.push(...page.deliveries.map(({ sequence }) => sequence));
    if (page.next === undefined) return found;
    from = page.next;
  }
  throw new Error('The list has no end.');
}

const EVERY = [0, 1, 2, 5, 4, 3, 8, 7, 6];
test.each([1, 2, 3, 4, 9, 50])('pages of %d hold each delivery once: waiting, dead, ended', async (limit) => {
  expect(await listed({}, limit)).toEqual(EVERY);
});

test.each([
  ['state waiting', { state: 'waiting' }, [0, 1, 2]],
  ['state dead', { state: 'dead' }, [5, 4, 3]],
  ['state delivered', { state: 'delivered' }, [8, 7, 6]],
  ['state failed', { state: 'failed' }, []],
  ['type', { type: 'run.failed' }, [5, 4, 3]],
  ['since and until', { since: 1_780_000_000_002, until: 1_780_000_000_007 }, [2, 5, 4, 3, 6]],
] as const)('filters by %s, in pages of any size', async (_, filter, expected) => {
  expect(await listed(filter, 50)).toEqual(expected);
  expect(await listed(filter, 2)).toEqual(expected);
});

test('a page of one delivery with a filter that selects nothing reads the store a few times alone', async () => {
  const store = await stored();
  let reads = 0;
  const counted: Store = {
    ...store,
    attempts: {
      ...store.attempts,
      list(...request) {
        reads++;
        return store.attempts.list(...request);
      },
    },
    deliveries: {
      ...store.deliveries,
      waiting(...request) {
        reads++;
        return store.deliveries.waiting(...request);
      },
      deadLetters(...request) {
        reads++;
        return store.deliveries.deadLetters(...request);
      },
    },
  };
  const page = { from: undefined, limit: 1 };
  const found = await listDeliveries(
    { store: counted, storeClock },
    subscription,
    { ...ALL, type: 'run.cancelled' },
    page,
  );
  expect([found, reads]).toEqual([{ deliveries: [], next: undefined }, 3]);
});
