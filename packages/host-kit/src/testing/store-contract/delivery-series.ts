import type { DeliveryMinute } from '../../ports/delivery-series.ts';
import type { Store } from '../../ports/store.ts';
import type { StoreContract } from './contract.ts';
import { TENANCY, withSubscriptions } from './samples.ts';

/** Tests of `DeliverySeries`. */
export function deliverySeriesContract({ onStore, assert }: StoreContract): void {
  onStore('counts of one subscription and minute are summed, also those of one transaction', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await add(store, sample({ delivered: 1, durationMs: 1.5, latency: latency(0) }));
    await store.transaction(async (transaction) => {
      const more = { failed: 2, deadLettered: 1, skipped: 3, durationMs: 20_000.25, latency: latency(7, 7) };
      await store.deliverySeries.add([sample(more)], transaction);
      await store.deliverySeries.add([sample({ delivered: 1, latency: latency(3) })], transaction);
    });
    assert.deepEqual(await store.deliverySeries.read(['whk_1'], HOUR), [
      {
        at: 0,
        ...{ delivered: 2, failed: 2, deadLettered: 1, skipped: 3, durationMs: 20_001.75 },
        latency: latency(0, 3, 7, 7),
      },
    ]);
  });

  onStore('a transaction that is undone counts nothing', async (store) => {
    await withSubscriptions(store, 'whk_1');
    const undone = store.transaction(async (transaction) => {
      await store.deliverySeries.add([sample({ delivered: 1 })], transaction);
      throw new Error('undo');
    });
    await assert.rejects(undone);
    assert.deepEqual(await store.deliverySeries.read(['whk_1'], HOUR), []);
  });

  onStore('a read sums steps and subscriptions in the order of time, and leaves out all others', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2', 'whk_3');
    await add(
      store,
      sample({ minute: 4 * MINUTE_MS, delivered: 1 }),
      sample({ minute: 5 * MINUTE_MS, delivered: 10 }),
      sample({ minute: 9 * MINUTE_MS, delivered: 100 }),
      sample({ minute: 25 * MINUTE_MS, delivered: 1000 }),
      sample({ minute: 30 * MINUTE_MS, delivered: 7 }),
      sample({ webhookId: 'whk_2', minute: 6 * MINUTE_MS, delivered: 20 }),
      sample({ webhookId: 'whk_3', minute: 6 * MINUTE_MS, delivered: 7 }),
    );
    const range = { from: 5 * MINUTE_MS, until: 30 * MINUTE_MS, stepMs: 5 * MINUTE_MS };
    const read = async (...webhookIds: string[]) =>
      (await store.deliverySeries.read(webhookIds, range)).map(({ at, delivered }) => [at / MINUTE_MS, delivered]);
    assert.deepEqual(await read('whk_1', 'whk_2'), [
      [5, 130],
      [25, 1000],
    ]);
    assert.deepEqual(await read('whk_2'), [[5, 20]]);
    assert.deepEqual(await read(), []);
  });

  onStore('minutes are deleted when their time has passed, those of a removed subscription too', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    await add(
      store,
      sample({ delivered: 1 }),
      sample({ minute: MINUTE_MS, delivered: 2 }),
      sample({ minute: 2 * MINUTE_MS, delivered: 3 }),
      sample({ webhookId: 'whk_2', delivered: 4 }),
    );
    await store.transaction((transaction) => store.subscriptions.remove(TENANCY, 'whk_2', transaction));
    assert.deepEqual(await store.deliverySeries.sweep(2 * MINUTE_MS, 2), 2);
    assert.deepEqual(await store.deliverySeries.sweep(2 * MINUTE_MS, 2), 1);
    assert.deepEqual(await store.deliverySeries.sweep(2 * MINUTE_MS, 2), 0);
    const left = await store.deliverySeries.read(['whk_1', 'whk_2'], HOUR);
    assert.deepEqual(
      left.map(({ at, delivered }) => [at, delivered]),
      [[2 * MINUTE_MS, 3]],
    );
  });
}

const MINUTE_MS = 60_000;
const HOUR = { from: 0, until: 60 * MINUTE_MS, stepMs: MINUTE_MS };

function sample(fields: Partial<DeliveryMinute>): DeliveryMinute {
  return {
    ...{ webhookId: 'whk_1', minute: 0, delivered: 0, failed: 0, deadLettered: 0, skipped: 0, durationMs: 0 },
    latency: latency(),
    ...fields,
  };
}

/** A histogram with an attempt in each of the named buckets. */
function latency(...buckets: readonly number[]): readonly number[] {
  return Array.from({ length: 8 }, (_, index) => buckets.filter((bucket) => bucket === index).length);
}

function add(store: Store, ...minutes: readonly DeliveryMinute[]): Promise<void> {
  return store.transaction((transaction) => store.deliverySeries.add(minutes, transaction));
}
