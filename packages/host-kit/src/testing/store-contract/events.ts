import type { StoreContract } from './contract.ts';
import { sampleEvent, sampleRun } from './samples.ts';

/** Tests of `EventStore`. */
export function eventsContract({ onStore, assert }: StoreContract): void {
  onStore('events after a sequence are listed in order', async (store) => {
    const run = sampleRun({});
    await store.transaction(async (transaction) => {
      await store.runs.insert(run, transaction);
      for (const sequence of [0, 1, 2]) await store.events.insert([sampleEvent(sequence)], transaction);
    });
    assert.deepEqual(await store.events.list(run, { after: 0, limit: 10 }), [sampleEvent(1), sampleEvent(2)]);
    assert.deepEqual(await store.events.list(run, { after: -1, limit: 1 }), [sampleEvent(0)]);
  });

  onStore('a page ends with the event that reaches maxBytes, and has at least one event', async (store) => {
    const run = sampleRun({});
    const payload = { text: 'é'.repeat(100) };
    const events = [0, 1, 2, 3].map((sequence) => ({ ...sampleEvent(sequence), payload }));
    await store.transaction(async (transaction) => {
      await store.runs.insert(run, transaction);
      await store.events.insert(events, transaction);
    });
    const bytes = Buffer.byteLength(JSON.stringify(payload));
    const count = async (maxBytes: number) => (await store.events.list(run, { after: 0, limit: 10, maxBytes })).length;
    assert.deepEqual(await Promise.all([1, bytes, bytes + 1, 9 * bytes].map(count)), [1, 1, 2, 3]);
    assert.deepEqual(await store.events.list(run, { after: 0, limit: 1, maxBytes: 9 * bytes }), [events[1]]);
    assert.deepEqual(await store.events.list(run, { after: 3, limit: 9, maxBytes: 9 * bytes }), []);
  });

  onStore('an insert rejects when the log already has the sequence', async (store) => {
    await store.transaction((transaction) => store.events.insert([sampleEvent(0)], transaction));
    await assert.rejects(store.transaction((transaction) => store.events.insert([sampleEvent(0)], transaction)));
  });
}
