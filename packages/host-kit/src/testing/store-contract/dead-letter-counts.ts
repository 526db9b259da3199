import type {
  DeadLetterCount,
  DeadLetterCounting,
  DeadLetterCursor,
  DeadLetterSelection,
} from '../../ports/deliveries.ts';
import type { Store } from '../../ports/store.ts';
import type { StoreContract } from './contract.ts';
import { CLAIM, sampleDelivery, withSubscriptions } from './samples.ts';

/** Tests of `DeliveryQueue.countDeadLetters`. */
export function deadLetterCountsContract({ onStore, assert }: StoreContract): void {
  onStore('dead letters of one subscription are counted by type, status and step of time', async (store) => {
    await withLetters(store);
    const { counts, lookedAt, last } = await store.deliveries.countDeadLetters('whk_1', counting({}));
    assert.deepEqual(sorted(counts), [
      { eventType: 'run.completed', status: 0, at: 0, count: 1 },
      { eventType: 'run.completed', status: 500, at: 0, count: 1 },
      { eventType: 'run.failed', status: 500, at: 1000, count: 2 },
    ]);
    assert.deepEqual([lookedAt, last], [4, undefined]);
    const other = await store.deliveries.countDeadLetters('whk_2', counting({}));
    assert.deepEqual(other.counts, [{ eventType: 'run.failed', status: 404, at: 1000, count: 1 }]);
    const none = await store.deliveries.countDeadLetters('whk_3', counting({}));
    assert.deepEqual(none, { counts: [], lookedAt: 0, last: undefined });
  });

  onStore('a count selects by type, status and id, and tells how many dead letters it looked at', async (store) => {
    await withLetters(store);
    const count = async (selection: Partial<DeadLetterSelection>) => {
      const found = await store.deliveries.countDeadLetters('whk_1', counting({}, selection));
      return [found.counts.reduce((sum, { count }) => sum + count, 0), found.lookedAt];
    };
    assert.deepEqual(await count({ eventTypes: ['run.failed', 'run.paused'] }), [2, 4]);
    assert.deepEqual(await count({ eventTypes: [] }), [0, 4]);
    assert.deepEqual(await count({ statuses: [0] }), [1, 4]);
    assert.deepEqual(await count({ statuses: [500, 0], eventTypes: ['run.completed'] }), [2, 4]);
    assert.deepEqual(await count({ fromId: 'dlv_2' }), [3, 4]);
    assert.deepEqual(await count({ fromId: 'dlv_2', belowId: 'dlv_4' }), [2, 4]);
  });

  onStore('a count looks at the newest dead letters first, and goes on after the last one', async (store) => {
    await withLetters(store);
    const pages: unknown[] = [];
    for (let before: DeadLetterCursor | undefined, left = 5; left > 0; left -= 1) {
      const found = await store.deliveries.countDeadLetters('whk_1', counting({ before, limit: 2 }));
      pages.push([sorted(found.counts).map(({ eventType, count }) => [eventType, count]), found.last]);
      if (found.last === undefined) break;
      before = found.last;
    }
    assert.deepEqual(pages, [
      [[['run.failed', 2]], { deadLetteredAt: 1500, deliveryId: 'dlv_3' }],
      [
        [
          ['run.completed', 1],
          ['run.completed', 1],
        ],
        { deadLetteredAt: 999, deliveryId: 'dlv_1' },
      ],
      [[], undefined],
    ]);
  });
}

/** Adds four dead letters of `whk_1`, one of `whk_2`, and a delivery that waits. */
async function withLetters(store: Store): Promise<void> {
  await withSubscriptions(store, 'whk_1', 'whk_2');
  const letters = [
    { deliveryId: 'dlv_1', webhookId: 'whk_1', eventType: 'run.completed', at: 999, lastStatus: undefined },
    { deliveryId: 'dlv_2', webhookId: 'whk_1', eventType: 'run.completed', at: 999, lastStatus: 500 },
    { deliveryId: 'dlv_3', webhookId: 'whk_1', eventType: 'run.failed', at: 1500, lastStatus: 500 },
    { deliveryId: 'dlv_4', webhookId: 'whk_1', eventType: 'run.failed', at: 1500, lastStatus: 500 },
    { deliveryId: 'dlv_5', webhookId: 'whk_2', eventType: 'run.failed', at: 1000, lastStatus: 404 },
  ];
  const waiting = sampleDelivery({ deliveryId: 'dlv_6', dueAt: 5000 });
  const deliveries = letters.map(({ deliveryId, webhookId, eventType }) =>
    sampleDelivery({ deliveryId, webhookId, eventType }),
  );
  await store.transaction((transaction) => store.deliveries.enqueue([...deliveries, waiting], transaction));
  const claims = await store.deliveries.claim(CLAIM);
  const ended = claims.flatMap((claim) =>
    letters
      .filter(({ deliveryId }) => deliveryId === claim.deliveryId)
      .map(({ at, lastStatus }) => ({
        claim,
        settlement: { kind: 'dead', at, expiresAt: 90_000, attempts: 3, lastStatus } as const,
      })),
  );
  await store.transaction((transaction) => store.deliveries.settle(ended, transaction));
}

function counting(
  page: { readonly before?: DeadLetterCursor | undefined; readonly limit?: number; readonly now?: number },
  selection: Partial<DeadLetterSelection> = {},
): DeadLetterCounting {
  const { before, limit = 10, now = 2000 } = page;
  const all = { eventTypes: undefined, statuses: undefined, fromId: undefined, belowId: undefined };
  return { before, limit, now, stepMs: 1000, selection: { ...all, ...selection } };
}

function sorted(counts: readonly DeadLetterCount[]): readonly DeadLetterCount[] {
  return [...counts].sort(
    (a, b) =>
      a.at - b.at || a.status - b.status || (a.eventType < b.eventType ? -1 : a.eventType > b.eventType ? 1 : 0),
  );
}
