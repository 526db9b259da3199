import { expect, test } from 'vitest';
import { type Executor, executor } from '../../src/execution/executor.ts';
import { runFamilies } from '../../src/execution/run-families.ts';
import type { Execution, RunOutcome } from '../../src/ports/engine.ts';
import { systemRandom } from '../../src/ports/random.ts';
import type { Store } from '../../src/ports/store.ts';
import { eventLog } from '../../src/runs/event-log.ts';
import { secretBox } from '../../src/sealing/secret-box.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { sampleRun, TENANCY } from '../../src/testing/store-contract/samples.ts';

/** The behaviour of the store for one append: it keeps it, fails before it, or keeps it and loses the answer. */
type Weather = 'kept' | 'away' | 'answer-lost';

interface Trouble {
  /** The store refuses every event of this type. */
  readonly neverTaken?: string;
  /** How many reads of the log fail before one succeeds. */
  readonly unreadable?: number;
}

/** Executes one run of three steps to its end, on a store with this weather. The last weather lasts. */
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
  // Every timer is due at once, so that no test waits for a retry.
  const clock = {
    now: Date.now,
    monotonic: () => performance.now(),
    after: (_ms: number, then: () => void) => {
      const timer = setTimeout(then);
      return () => clearTimeout(timer);
    },
  };
  const events = eventLog({ store, clock, random: systemRandom, outbox: async () => 0, appended: () => {} });
  const families = runFamilies({ log: () => {}, services: () => ({ store, clock, events, executor: execute }) });
  const execute: Executor = executor({
    families,
    engine: { version: 1, execute: (_run, execution) => steps(execution) },
    store,
    clock,
    random: systemRandom,
    events,
    log: ({ event }) => log.push(event),
    reach: {
      limits: { clarificationRounds: 5 },
      secrets: secretBox(new Uint8Array(32), systemRandom),
      recordAudit: async () => {},
      workspaceFiles: undefined,
      fetch: async () => expect.fail('nothing is fetched'),
    },
  });
  execute.execute(run);
  await expect.poll(async () => (await store.runs.unfinished({ after: undefined, limit: 1 })).length, PATIENT).toBe(0);
  const found = await store.runs.read(TENANCY, run.runId);
  const types = (await inner.events.list(run, { after: -1, limit: 100 })).map(({ type }) => type);
  return { status: found.kind === 'found' ? found.value.status : found.kind, types, log };
}

/** Nearly the time limit of a test: a run that is stuck fails the test, a slow machine does not. */
const PATIENT = { timeout: 25_000 };

const DONE: RunOutcome = { status: 'completed', outputs: {} };

/** Completes one node, unless the log has its completion already. */
async function engineSteps({ history, append }: Execution): Promise<RunOutcome> {
  let isDone = false;
  for await (const { type } of history()) isDone ||= type === 'node.completed';
  if (!isDone) await append({ type: 'node.completed', payload: { nodeId: 'n' } });
  return DONE;
}

const WHOLE = ['run.started', 'node.completed', 'run.completed'];

test.each<[title: string, weather: readonly [Weather, ...Weather[]]]>([
  ['is away when a run starts', ['away', 'kept']],
  ['is away in the middle of it', ['kept', 'away', 'away', 'kept']],
  ['is away at its end', ['kept', 'kept', 'away', 'kept']],
  ['keeps a step and loses the answer', ['kept', 'answer-lost', 'kept']],
  ['keeps the last step and loses the answer', ['kept', 'kept', 'answer-lost', 'kept']],
])('records each step once and completes the run when the store %s', async (_title, weather) => {
  const { status, types, log } = await executed(weather);
  expect(types).toEqual(WHOLE);
  expect(status).toBe('completed');
  expect(log).not.toContain('run.engine-failed');
});

test('completes a run whose log cannot be read for a while', async () => {
  const { status, types, log } = await executed(['kept'], engineSteps, { unreadable: 8 });
  expect(types).toEqual(WHOLE);
  expect(status).toBe('completed');
  expect(log.filter((event) => event === 'run.left').length).toBe(8);
  expect(log).not.toContain('run.engine-failed');
});

test('rejects further steps of an engine that goes on after an unrecorded step', async () => {
  const { types } = await executed(['kept', 'away', 'kept'], async (execution) => {
    const done = await engineSteps(execution).catch(() => undefined);
    const failed = { nodeId: 'n', error: { code: 'acme.unrecorded', message: 'The step was not recorded.' } };
    if (done === undefined) await execution.append({ type: 'node.failed', payload: failed }).catch(() => {});
    return DONE;
  });
  expect(types).toEqual(WHOLE);
});

test('fails a run when the log refuses the same step five times', async () => {
  const { status, types, log } = await executed(['kept'], engineSteps, { neverTaken: 'node.completed' });
  expect(types).toEqual(['run.started', 'run.failed']);
  expect(status).toBe('failed');
  expect(log.filter((event) => event === 'run.left').length).toBe(5);
});

test('fails a run when its engine rejects', async () => {
  const { status, types } = await executed(['kept'], async () => {
    throw new Error('a fault of the workflow');
  });
  expect(types).toEqual(['run.started', 'run.failed']);
  expect(status).toBe('failed');
});
