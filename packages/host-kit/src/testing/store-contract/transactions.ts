import type { StoreContract } from './contract.ts';
import { sampleRun, TENANCY } from './samples.ts';

/** Tests of `Store.transaction`. */
export function transactionsContract({ onStore, assert }: StoreContract): void {
  onStore('a transaction that rejects undoes its writes', async (store) => {
    const run = sampleRun({});
    const failing = store.transaction(async (transaction) => {
      await store.runs.insert(run, transaction);
      throw new Error('no');
    });
    await assert.rejects(failing);
    assert.deepEqual(await store.runs.read(TENANCY, run.runId), { kind: 'absent' });
  });

  onStore('a transaction that rejects does not undo concurrent transactions', async (store) => {
    const runs = [sampleRun({ runId: 'run_1' }), sampleRun({ runId: 'run_2' }), sampleRun({ runId: 'run_3' })];
    await Promise.allSettled(
      runs.map((run) =>
        store.transaction(async (transaction) => {
          await store.runs.insert(run, transaction);
          if (run.runId === 'run_2') throw new Error('no');
        }),
      ),
    );
    const kinds = await Promise.all(runs.map(async ({ runId }) => (await store.runs.read(TENANCY, runId)).kind));
    assert.deepEqual(kinds, ['found', 'absent', 'found']);
  });

  onStore('a write rejects when its transaction has ended', async (store) => {
    const ended = await store.transaction(async (transaction) => transaction);
    await assert.rejects(store.runs.insert(sampleRun({}), ended));
  });

  onStore('a transaction reads its own uncommitted writes', async (store) => {
    const run = sampleRun({});
    let seen: unknown;
    await store.transaction(async (transaction) => {
      await store.runs.insert(run, transaction);
      seen = await store.runs.forAppend([run.runId, 'run_9'], transaction);
    });
    assert.deepEqual(seen, [run]);
  });

  onStore('a probe passes beside transactions, again and again', async (store) => {
    const under = store.transaction((transaction) => store.runs.insert(sampleRun({}), transaction));
    await Promise.all([under, store.probe(), store.probe()]);
    await store.probe();
    assert.deepEqual(store.isUnavailable?.(new Error('a fault of the program')) ?? false, false);
  });
}
