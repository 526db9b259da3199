import type { Tenancy } from '@svc/auth';
import { type AllEventsPage, BEFORE_ALL_EVENTS } from '../../ports/events.ts';
import type { Run } from '../../ports/runs.ts';
import type { Store } from '../../ports/store.ts';
import type { StoreContract } from './contract.ts';
import { sampleEvent, sampleRun, TENANCY } from './samples.ts';

/** Tests of `EventStore`. */
export function eventsContract(contract: StoreContract): void {
  logContract(contract);
  allEventsContract(contract);
}

function logContract({ onStore, assert }: StoreContract): void {
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

function allEventsContract({ onStore, assert }: StoreContract): void {
  onStore('the events of all runs are listed in the order of their commits, and resumed after each', async (store) => {
    await insertRuns(store, { runId: 'run_1' }, { runId: 'run_2' });
    assert.deepEqual(await store.events.newest(), BEFORE_ALL_EVENTS);
    assert.deepEqual(await store.events.listAll(TENANCY, page({})), { events: [], last: BEFORE_ALL_EVENTS });
    await append(store, ['run_2', 0]);
    await append(store, ['run_1', 0], ['run_1', 1]);
    await append(store, ['run_2', 1]);
    const { events, last } = await store.events.listAll(TENANCY, page({}));
    const expected = ['run_2 0', 'run_1 0', 'run_1 1', 'run_2 1'];
    assert.deepEqual(
      events.map(({ event }) => `${event.runId} ${event.sequence}`),
      expected,
    );
    assert.deepEqual(events[0]?.event, eventOf('run_2', 0));
    assert.deepEqual(last, await store.events.newest());
    for (const [index, { position }] of events.entries()) {
      assert.deepEqual(await listed(store, { after: position }), expected.slice(index + 1));
      assert.deepEqual(await listed(store, { after: events[index - 1]?.position ?? BEFORE_ALL_EVENTS, limit: 1 }), [
        expected[index],
      ]);
    }
  });

  onStore(
    'the events of all runs are those of the runs that the caller reaches, and pages get past others',
    async (store) => {
      const others = [{ tenant: 'umbrella' }, { mode: 'test' }, { workspace: 'w_2' }, {}] as const;
      const fields = others.map((other, index) => ({ runId: `run_${index + 2}`, ...other }));
      await insertRuns(store, { runId: 'run_1', workspace: 'w_1' }, ...fields);
      for (const runId of ['run_2', 'run_3', 'run_4', 'run_5', 'run_1']) await append(store, [runId, 0]);
      const all = async (tenancy: Tenancy) => runIds((await store.events.listAll(tenancy, page({}))).events);
      assert.deepEqual(await all({ ...TENANCY, workspaces: ['w_1'] }), ['run_1']);
      assert.deepEqual(await all({ ...TENANCY, workspaces: ['w_2', 'w_1'] }), ['run_4', 'run_1']);
      assert.deepEqual(await all({ ...TENANCY, workspaces: [] }), []);
      assert.deepEqual(await all(TENANCY), ['run_4', 'run_5', 'run_1']);
      assert.deepEqual(await all({ ...TENANCY, mode: 'test' }), ['run_3']);
      assert.deepEqual(await all({ ...TENANCY, tenant: 'umbrella' }), ['run_2']);
      // A page looks at two events, and ends at the second even when it returns none.
      const tenancy = { ...TENANCY, workspaces: ['w_1'] };
      const first = await store.events.listAll(tenancy, page({ limit: 2 }));
      const second = await store.events.listAll(tenancy, page({ limit: 2, after: first.last }));
      const third = await store.events.listAll(tenancy, page({ limit: 2, after: second.last }));
      assert.deepEqual(
        [first, second, third].map(({ events }) => runIds(events)),
        [[], [], ['run_1']],
      );
      assert.deepEqual(third.last, await store.events.newest());
    },
  );

  onStore('the events of all runs are listed by type, and in pages of at most maxBytes', async (store) => {
    await insertRuns(store, { runId: 'run_1' });
    const typed = [0, 1, 2, 3].map((sequence) => ({
      ...eventOf('run_1', sequence),
      type: sequence % 2 === 0 ? 'node.completed' : 'node.failed',
      payload: { text: 'é'.repeat(100) },
    }));
    await store.transaction((transaction) => store.events.insert(typed, transaction));
    assert.deepEqual(await listed(store, { types: ['node.failed'] }), ['run_1 1', 'run_1 3']);
    assert.deepEqual(await listed(store, { types: [] }), []);
    assert.deepEqual(await listed(store, { types: ['run.paused'] }), []);
    const bytes = Buffer.byteLength(JSON.stringify(typed[0]?.payload));
    assert.deepEqual(await listed(store, { maxBytes: 1 }), ['run_1 0']);
    assert.deepEqual(await listed(store, { maxBytes: bytes + 1 }), ['run_1 0', 'run_1 1']);
    // A payload that is not returned does not count.
    const filtered = await store.events.listAll(TENANCY, page({ types: ['node.failed'], maxBytes: bytes }));
    assert.deepEqual(runIds(filtered.events), ['run_1']);
    assert.deepEqual(await listed(store, { after: filtered.last, types: ['node.failed'] }), ['run_1 3']);
  });

  onStore(
    'an event is listed among those of all runs after its commit, and never when it was undone',
    async (store) => {
      await insertRuns(store, { runId: 'run_1' });
      await append(store, ['run_1', 0]);
      const seen: string[][] = [];
      const undone = store.transaction(async (transaction) => {
        await store.events.insert([eventOf('run_1', 1)], transaction);
        seen.push(await listed(store, {}));
        throw new Error('undone');
      });
      await assert.rejects(undone);
      const before = await store.events.newest();
      assert.deepEqual(await listed(store, {}), ['run_1 0']);
      await append(store, ['run_1', 1]);
      assert.deepEqual(seen, [['run_1 0']]);
      assert.deepEqual(await listed(store, { after: before }), ['run_1 1']);
    },
  );
}

function insertRuns(store: Store, ...runs: readonly Partial<Run>[]): Promise<void> {
  return store.transaction(async (transaction) => {
    for (const fields of runs) await store.runs.insert(sampleRun(fields), transaction);
  });
}

function append(store: Store, ...events: readonly (readonly [runId: string, sequence: number])[]): Promise<void> {
  return store.transaction((transaction) =>
    store.events.insert(
      events.map((each) => eventOf(...each)),
      transaction,
    ),
  );
}

function eventOf(runId: string, sequence: number) {
  return { ...sampleEvent(sequence), runId, eventId: `evt_${runId}_${sequence}` };
}

function page(fields: Partial<AllEventsPage>): AllEventsPage {
  return { after: BEFORE_ALL_EVENTS, limit: 100, ...fields };
}

async function listed(store: Store, fields: Partial<AllEventsPage>): Promise<string[]> {
  const { events } = await store.events.listAll(TENANCY, page(fields));
  return events.map(({ event }) => `${event.runId} ${event.sequence}`);
}

function runIds(events: readonly { readonly event: { readonly runId: string } }[]): string[] {
  return events.map(({ event }) => event.runId);
}
