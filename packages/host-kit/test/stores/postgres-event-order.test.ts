import { startPostgres } from '@svc/tools/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BEFORE_ALL_EVENTS } from '../../src/ports/events.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { sampleEvent, sampleRun } from '../../src/testing/store-contract/samples.ts';

let postgres: Awaited<ReturnType<typeof startPostgres>>;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

function signal() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

test('events of one run come in ascending sequence, also when the later one is of the earlier transaction', async () => {
  const store = await postgresStore({ url: postgres.url, schema: 'event_order' });
  const { tenant, mode } = sampleRun({});
  const append = (sequence: number) => ({ ...sampleEvent(sequence), runId: 'run_y', eventId: `evt_y_${sequence}` });
  await store.transaction(async (transaction) => {
    for (const runId of ['run_x', 'run_y']) await store.runs.insert(sampleRun({ runId }), transaction);
  });
  const begun = signal();
  const overtaken = signal();
  const earlier = store.transaction(async (transaction) => {
    await store.runs.forAppend(['run_x'], transaction);
    begun.resolve();
    await overtaken.promise;
    await store.runs.forAppend(['run_y'], transaction);
    await store.events.insert([append(1)], transaction);
  });
  await begun.promise;
  await store.transaction(async (transaction) => {
    await store.runs.forAppend(['run_y'], transaction);
    await store.events.insert([append(0)], transaction);
  });
  overtaken.resolve();
  await earlier;
  const reach = { tenant, mode, workspaces: 'all' } as const;
  const { events } = await store.events.listAll(reach, { after: BEFORE_ALL_EVENTS, limit: 10 });
  expect(events.map(({ event }) => event.sequence)).toEqual([0, 1]);
  await store.close();
});
