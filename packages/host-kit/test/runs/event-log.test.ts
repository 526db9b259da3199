import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/ports/clock.ts';
import type { RunEvent } from '../../src/ports/events.ts';
import { systemRandom } from '../../src/ports/random.ts';
import type { Store } from '../../src/ports/store.ts';
import { type EventLog, eventLog, RunTakenOver } from '../../src/runs/event-log.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { ANY_ROOM, sampleRun, TENANCY } from '../../src/testing/store-contract/samples.ts';
import { outbox } from '../../src/webhooks/outbox.ts';
import { sampleSubscription } from '../webhooks/samples.ts';

/** Opens a log with two running runs, whose workspace has two subscriptions, and one that has ended. */
async function opened(change: (inner: Store) => Store = (inner) => inner) {
  let transactions = 0;
  const inner = memoryStore();
  const store = change({
    ...inner,
    transaction(work) {
      transactions++;
      return inner.transaction(work);
    },
  });
  await inner.transaction(async (transaction) => {
    for (const runId of ['run_1', 'run_2'])
      await inner.runs.insert(sampleRun({ runId, status: 'running' }), transaction);
    await inner.runs.insert(sampleRun({ runId: 'run_ended', status: 'completed' }), transaction);
    for (const webhookId of ['whk_1', 'whk_2'])
      await inner.subscriptions.insert(sampleSubscription({ webhookId, events: ['node.completed'] }), transaction);
  });
  const told: RunEvent[] = [];
  const render = (_run: unknown, { type, sequence }: RunEvent) => ({
    eventType: type,
    body: new TextEncoder().encode(String(sequence)),
  });
  const log = eventLog({
    store,
    clock: systemClock,
    random: systemRandom,
    outbox: outbox({ store, storeClock: systemClock, render }),
    appended: (event) => told.push(event),
  });
  const deliveries = () =>
    inner.deliveries.claim({ now: Date.now(), leaseUntil: Date.now() + 1, limit: 1000, room: ANY_ROOM });
  const sequences = async (runId: string) =>
    (await inner.events.list(sampleRun({ runId }), { after: -1, limit: 1000 })).map(({ sequence }) => sequence);
  return { log, told, deliveries, sequences, inner, transactions: () => transactions };
}

const NODE = { type: 'node.completed', payload: { nodeId: 'n' } };
const COMPLETED = { type: 'run.completed', payload: { outputs: {} } };
const appendTo = (log: EventLog, ...runIds: readonly string[]) =>
  Promise.allSettled(runIds.map((runId) => log.append(runId, NODE)));

describe('concurrent appends', () => {
  test('share a transaction with their deliveries, in the order of the calls', async () => {
    const { log, told, deliveries, sequences, transactions } = await opened();
    const appended = await appendTo(log, 'run_1', 'run_2', 'run_1', 'run_1', 'run_2');
    const places = appended.map((each) => (each.status === 'fulfilled' ? each.value.sequence : each.status));
    expect(places).toEqual([0, 0, 1, 2, 1]);
    expect(transactions()).toBe(1);
    expect(await sequences('run_1')).toEqual([0, 1, 2]);
    expect(told.length).toBe(5);
    expect((await deliveries()).length).toBe(10);
  });

  test('are refused one by one, and a refused one writes nothing', async () => {
    const { log, told, deliveries, sequences } = await opened();
    const appended = await Promise.allSettled([
      log.append('run_1', NODE),
      log.append('run_ended', NODE),
      log.append('run_9', NODE),
      log.append('run_1', NODE, 7),
      log.append('run_1', { type: 'run.resumed', payload: {} }),
      log.append('run_1', NODE),
    ]);
    expect(appended).toMatchObject([
      { value: { sequence: 0 } },
      { reason: { code: 'run_terminal' } },
      { reason: { code: 'not_found' } },
      { reason: expect.any(RunTakenOver) },
      { reason: { code: 'run_state_conflict' } },
      { value: { sequence: 1 } },
    ]);
    expect(await sequences('run_1')).toEqual([0, 1]);
    expect(told.length).toBe(2);
    expect((await deliveries()).length).toBe(4);
  });

  test('succeed next to one that the store rejects', async () => {
    const { log, sequences, deliveries } = await opened((inner) => ({
      ...inner,
      events: {
        ...inner.events,
        async insert(events, transaction) {
          await inner.events.insert(events, transaction);
          if (events.some(({ nodeId }) => nodeId === 'bad')) throw new Error('no row can hold it');
        },
      },
    }));
    const appended = await Promise.allSettled([
      log.append('run_1', NODE),
      log.append('run_1', { ...NODE, nodeId: 'bad' }),
      log.append('run_2', NODE),
      log.append('run_1', NODE),
    ]);
    expect(appended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(await sequences('run_1')).toEqual([0, 1]);
    expect(await sequences('run_2')).toEqual([0]);
    expect((await deliveries()).length).toBe(6);
  });
});

test.each([
  ['paused', COMPLETED, 'The run is paused; it does not accept run.completed. Resume it first.'],
  ['pending', COMPLETED, 'The run has not started; it does not accept run.completed.'],
  ['waiting-input', { type: 'run.paused', payload: {} }, /^The run waits for input; .* Answer its interrupt first\.$/],
  ['cancelling', COMPLETED, 'The run is being cancelled; it does not accept run.completed.'],
  ['running', { type: 'run.resumed', payload: {} }, 'The run is running; it does not accept run.resumed.'],
  ['completed', NODE, 'The run has ended; its log is closed.'],
] as const)('refuses an event that a %s run does not accept, and says why', async (status, event, message) => {
  const { log, inner } = await opened();
  const run = sampleRun({ runId: 'run_3', status });
  await inner.transaction((transaction) => inner.runs.insert(run, transaction));
  await expect(log.append('run_3', event)).rejects.toThrow(message);
});

test(`${covers('events.gate.payloads')} refuses an event that breaks a rule of its type, and stores nothing`, async () => {
  const { log, sequences, deliveries } = await opened();
  const broken = { type: 'node.completed', payload: {} };
  await expect(log.append('run_1', broken)).rejects.toThrow('node.completed: payload.nodeId is missing.');
  await expect(log.append('run_1', { ...NODE, type: 'node.compleated' })).rejects.toThrow('is no event type');
  expect(await sequences('run_1')).toEqual([]);
  expect(await deliveries()).toEqual([]);
});

test('undoes all changes of a step that rejects, and no others', async () => {
  const { log, inner, sequences } = await opened();
  const steps = [
    log.step('run_1', undefined, (run) => run.append(NODE)),
    log.step('run_1', undefined, async (run) => {
      await run.append(NODE, NODE);
      throw new Error('no');
    }),
    log.step('run_1', undefined, (run) => run.append(NODE)),
  ];
  expect((await Promise.allSettled(steps)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await sequences('run_1')).toEqual([0, 1]);
  expect(await inner.runs.read(TENANCY, 'run_1')).toMatchObject({ value: { lastSequence: 1 } });
});

test('an event takes its id, run, sequence and time from the log, not from the given one', async () => {
  const { log, inner, sequences } = await opened();
  const first = await log.append('run_1', NODE);
  const given: RunEvent = { ...first, runId: 'run_2', timestamp: 0 };
  const again = await log.append('run_1', given);
  expect(again).toMatchObject({ runId: 'run_1', sequence: 1 });
  expect([again.eventId, again.timestamp]).not.toContain(first.eventId);
  expect(again.timestamp).toBeGreaterThan(0);
  expect([await sequences('run_1'), await sequences('run_2')]).toEqual([[0, 1], []]);
  expect(await inner.events.list(sampleRun({ runId: 'run_1' }), { after: 0, limit: 1 })).toEqual([again]);
});
