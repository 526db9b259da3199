import { expect, test } from 'vitest';
import { executor } from '../../src/execution/executor.ts';
import type { Execution, RunOutcome } from '../../src/ports/engine.ts';
import { systemRandom } from '../../src/ports/random.ts';
import type { Store } from '../../src/ports/store.ts';
import { eventLog } from '../../src/runs/event-log.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { sampleRun, TENANCY } from '../../src/testing/store-contract/samples.ts';

/** What the store does with one append: keeps it, fails before it, or keeps it and loses the answer. */
type Weather = 'kept' | 'away' | 'answer-lost';

interface Trouble {
  /** An event type that it takes none of. */
  readonly neverTaken?: string;
  /** How often the log cannot be read before it can. */
  readonly unreadable?: number;
}

/** Executes one run of three steps to its end, on a store with this weather; the last weather stays. */
async function executed(
  weather: readonly [Weather, ...Weather[]],
  steps = engineSteps,
  { neverTaken, unreadable = 0 }: Trouble = {},
) {
  const inner = memoryStore();
  let appends = 0;
  let reads = 0;
  const store: Store = {
    ...inner,
    events: {
      ...inner.events,
      async insert(events, transaction) {
        if (events.some(({ type }) => type === neverTaken)) throw new Error('no row can hold it');
        await inner.events.insert(events, transaction);
      },
      async list(run, page) {
        if (reads++ < unreadable) throw new Error('the store is away');
        return inner.events.list(run, page);
      },
    },
    async transaction(work) {
      const now = weather[appends++] ?? weather.at(-1);
      if (now === 'away') throw new Error('the store is away');
      const result = await inner.transaction(work);
      if (now === 'answer-lost') throw new Error('the answer is lost');
      return result;
    },
  };
  const run = sampleRun({});
  await inner.transaction((transaction) => inner.runs.insert(run, transaction));
  const log: string[] = [];
  // Waits are over at once.
  const clock = {
    now: Date.now,
    at: (_time: number, then: () => void) => {
      const timer = setTimeout(then);
      return () => clearTimeout(timer);
    },
  };
  const events = eventLog({ store, clock, random: systemRandom, outbox: async () => 0, appended: () => {} });
  const execute = executor({
    engine: { version: 1, refuse: () => undefined, execute: (_run, execution) => steps(execution) },
    store,
    clock,
    random: systemRandom,
    events,
    log: ({ event }) => log.push(event),
  });
  execute.execute(run);
  await expect.poll(async () => (await store.runs.unfinished({ after: undefined, limit: 1 })).length).toBe(0);
  const found = await store.runs.read(TENANCY, run.runId);
  const types = (await inner.events.list(run, { after: -1, limit: 100 })).map(({ type }) => type);
  return { status: found.kind === 'found' ? found.value.status : found.kind, types, log };
}

const DONE: RunOutcome = { status: 'completed', outputs: {} };

/** Goes on after what is recorded. */
async function engineSteps({ history, append }: Execution): Promise<RunOutcome> {
  let isDone = false;
  for await (const { type } of history()) isDone ||= type === 'node.completed';
  if (!isDone) await append({ type: 'node.completed', payload: {} });
  return DONE;
}

const WHOLE = ['run.started', 'node.completed', 'run.completed'];

test.each<[title: string, weather: readonly [Weather, ...Weather[]]]>([
  ['is away when a run starts', ['away', 'kept']],
  ['is away in the middle of it', ['kept', 'away', 'away', 'kept']],
  ['is away at its end', ['kept', 'kept', 'away', 'kept']],
  ['keeps a step and loses the answer', ['kept', 'answer-lost', 'kept']],
  ['keeps the last step and loses the answer', ['kept', 'kept', 'answer-lost', 'kept']],
])('a store that %s fails no run, and each step is recorded once', async (_title, weather) => {
  const { status, types, log } = await executed(weather);
  expect(types).toEqual(WHOLE);
  expect(status).toBe('completed');
  expect(log).not.toContain('run.engine-failed');
});

test('a store that is away while the engine reads the log fails no run, for however long', async () => {
  const { status, types, log } = await executed(['kept'], engineSteps, { unreadable: 8 });
  expect(types).toEqual(WHOLE);
  expect(status).toBe('completed');
  expect(log.filter((event) => event === 'run.left').length).toBe(8);
  expect(log).not.toContain('run.engine-failed');
});

test('an engine that goes on after a step that was not recorded records nothing more', async () => {
  const { types } = await executed(['kept', 'away', 'kept'], async (execution) => {
    const done = await engineSteps(execution).catch(() => undefined);
    if (done === undefined) await execution.append({ type: 'node.failed', payload: {} }).catch(() => {});
    return DONE;
  });
  expect(types).toEqual(WHOLE);
});

test('a step that the log refuses again and again fails the run', async () => {
  const { status, types, log } = await executed(['kept'], engineSteps, { neverTaken: 'node.completed' });
  expect(types).toEqual(['run.started', 'run.failed']);
  expect(status).toBe('failed');
  expect(log.filter((event) => event === 'run.left').length).toBe(5);
});

test('an engine that rejects fails the run', async () => {
  const { status, types } = await executed(['kept'], async () => {
    throw new Error('a fault of the workflow');
  });
  expect(types).toEqual(['run.started', 'run.failed']);
  expect(status).toBe('failed');
});
