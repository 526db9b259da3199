import { setImmediate } from 'node:timers/promises';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type LogRecord } from '@svc/host-kit';
import { stepsEngine, workflow } from '@svc/host-kit/engine/steps';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { sampleRun } from '../../src/testing/store-contract/samples.ts';

const KEY = 'operator-key-of-this-test-0123456789';
const scopes = ['runs:create', 'runs:read', 'runs:cancel', 'manifest:read'];
const keys = memoryKeyStore([
  {
    ...{ id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: ['main'] },
    principal: 'p_1',
    scopes,
    mode: 'live',
  },
]);

/** Starts a host whose engine is a function. A program in JavaScript can pass one whose result has another type. */
async function hostOf(engine: unknown, store = memoryStore()) {
  const records: LogRecord[] = [];
  const host: ReturnType<typeof createHost> = Reflect.apply(createHost, undefined, [
    {
      ...{ store, authenticate: [apiKeyLane({ keys })], engine },
      ...{ secretKey: 'ab'.repeat(32), ports: { log: (record: LogRecord) => void records.push(record) } },
    },
  ]);
  await host.start();
  onTestFinished(() => host.stop(0));
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const ask = async (path: string, init: RequestInit = {}) =>
    (await host.fetch(new Request(`http://host.test${path}`, { headers, ...init }))).json();
  return {
    records,
    ask,
    create: (body: object) => ask('/v1/runs', { method: 'POST', body: JSON.stringify(body) }),
    /** Waits until a run has ended, and returns its last event. */
    async end(runId: string) {
      for (;;) {
        const { isTerminal, events, ...refusal } = await ask(`/v1/runs/${runId}/events/poll?timeout=5`);
        if (events === undefined) throw new Error(JSON.stringify(refusal));
        if (isTerminal) return events.at(-1);
        // The timers of the host get their turn.
        await setImmediate();
      }
    },
  };
}

test('a function executes a run of any workflow, and its result is the outputs of the run', async () => {
  const host = await hostOf(async ({ inputs }: { inputs: { name: string } }) => ({
    greeting: `Hello, ${inputs.name}`,
  }));
  const { runId } = await host.create({ workflowId: 'any', inputs: { name: 'Ada' }, tenantId: 'main' });
  expect(await host.end(runId)).toMatchObject({
    type: 'run.completed',
    payload: { outputs: { greeting: 'Hello, Ada' } },
  });
  expect(await host.ask(`/v1/runs/${runId}`)).toMatchObject({ status: 'completed', engineVersion: 1 });
});

test('a function that throws fails the run, and the cause is in the log alone', async () => {
  const host = await hostOf(async () => {
    throw new Error('the printer is on fire');
  });
  const { runId } = await host.create({ workflowId: 'any' });
  const failed = await host.end(runId);
  expect(failed).toMatchObject({ type: 'run.failed', payload: { error: { code: 'internal_error' } } });
  expect(JSON.stringify(failed)).not.toContain('printer');
  expect(host.records).toContainEqual(
    expect.objectContaining({ event: 'run.engine-failed', runId, error: 'the printer is on fire' }),
  );
});

test.each<[result: unknown, found: string]>([
  [undefined, 'undefined'],
  [null, 'null'],
  [['Ada'], 'a list'],
  ['Ada', 'string'],
])('a function that resolves with %j fails the run', async (result, found) => {
  const host = await hostOf(async () => result);
  const { runId } = await host.create({ workflowId: 'any' });
  expect(await host.end(runId)).toMatchObject({ type: 'run.failed' });
  expect(host.records).toContainEqual(
    expect.objectContaining({
      ...{ event: 'run.engine-failed', runId },
      error: `engine: resolved with ${found}. Return the outputs of the run, an object such as {}.`,
    }),
  );
});

test.each<[outcome: unknown, problem: string]>([
  [{ status: 'done' }, 'returned no outcome for any. Return { status:'],
  [{ status: 'completed' }, "the outcome of any has no outputs. Return { status: 'completed', outputs: { … } }."],
  [{ status: 'completed', outputs: [] }, 'the outcome of any has no outputs. Return { status:'],
  [{ status: 'failed' }, "the outcome of any has no error. Return { status: 'failed', error: { code, message } }."],
  [{ status: 'failed', error: 'no paper' }, 'the outcome of any has no error. Return { status:'],
])('an engine that ends a run with %j fails it, and the log names what is missing', async (outcome, problem) => {
  const host = await hostOf({ execute: async () => outcome });
  const { runId } = await host.create({ workflowId: 'any' });
  expect(await host.end(runId)).toMatchObject({ payload: { error: { code: 'internal_error' } } });
  const error = expect.stringContaining(`engine.execute: ${problem}`);
  expect(host.records).toContainEqual(expect.objectContaining({ event: 'run.engine-failed', runId, error }));
});

test.each<[thrown: unknown, error: string]>([
  [new Error('the printer is on fire'), 'the printer is on fire'],
  [Object.freeze(new TypeError('no paper')), 'no paper'],
  ['a secret text', 'thrown: a value of type string, which is no Error.'],
])('a step that throws %o is named in the log', async (thrown, error) => {
  const print = workflow({
    id: 'any',
    inputs: z.object({}),
    run: async (_inputs, { step }) => {
      await step('load-paper', () => null);
      await step('print', () => {
        throw thrown;
      });
      return {};
    },
  });
  const host = await hostOf(stepsEngine({ workflows: [print] }));
  const { runId } = await host.create({ workflowId: 'any' });
  expect(await host.end(runId)).toMatchObject({ type: 'run.failed' });
  const found = host.records.filter(({ event }) => event === 'run.engine-failed');
  expect(found).toEqual([expect.objectContaining({ runId, step: 'print', error })]);
});

test('a function that waits is left when its run is cancelled', async () => {
  let left: unknown;
  const host = await hostOf(
    (_run: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((_, reject) =>
        signal.addEventListener('abort', () => {
          left = signal.reason;
          reject(signal.reason);
        }),
      ),
  );
  const { runId } = await host.create({ workflowId: 'any' });
  await host.ask(`/v1/runs/${runId}/cancel`, { method: 'POST', body: '{}' });
  expect(await host.end(runId)).toMatchObject({ type: 'run.cancelled' });
  expect(left).toMatchObject({ name: 'RunLeft' });
});

test('a workspace that the credential does not reach is refused without hasWorkspace, too', async () => {
  const host = await hostOf(async () => ({}));
  expect(await host.create({ workflowId: 'any', tenantId: 'other' })).toMatchObject({ error: 'forbidden' });
});

describe('functions by workflow id', () => {
  const workflows = {
    greet: async ({ inputs }: { inputs: { name: string } }) => ({ greeting: `Hello, ${inputs.name}` }),
    'order.ship': async () => ({ shipped: true }),
  };

  test('each execute the runs of their workflow', async () => {
    const host = await hostOf(workflows);
    const greeted = await host.create({ workflowId: 'greet', inputs: { name: 'Ada' } });
    expect(await host.end(greeted.runId)).toMatchObject({ payload: { outputs: { greeting: 'Hello, Ada' } } });
    const shipped = await host.create({ workflowId: 'order.ship' });
    expect(await host.end(shipped.runId)).toMatchObject({ payload: { outputs: { shipped: true } } });
    expect(await host.ask('/v1/workflows/order.ship')).toMatchObject({ workflowId: 'order.ship' });
  });

  test.each(['sing', 'toString', '__proto__'])('refuse a run of %s', async (workflowId) => {
    const host = await hostOf(workflows);
    expect(await host.create({ workflowId })).toMatchObject({
      error: 'validation_error',
      message: 'workflowId: is not a workflow of this host: use one of greet, order.ship.',
    });
    expect(await host.ask(`/v1/workflows/${workflowId}`)).toMatchObject({ error: 'not_found' });
  });

  test('fail a run of a workflow that is gone', async () => {
    const store = memoryStore();
    const run = sampleRun({ workflowId: 'sing', workspace: 'main', status: 'pending', lastSequence: -1 });
    await store.transaction((transaction) => store.runs.insert(run, transaction));
    const host = await hostOf(workflows, store);
    expect(await host.end(run.runId)).toMatchObject({
      payload: {
        error: {
          code: 'workflow_gone',
          message: 'The workflow sing no longer exists. Start a run of another workflow.',
        },
      },
    });
  });

  test.each<[engine: object]>([
    [{}],
    [{ exeute: async () => ({}) }],
    [{ accepts: () => true }],
    [{ greet: async () => ({}), version: async () => ({}) }],
    [{ greet: { execute: async () => ({}) } }],
    [[async () => ({})]],
  ])('are not %o, which lacks the function of an engine', async (engine) => {
    await expect(hostOf(engine)).rejects.toThrow(/^createHost: engine\.execute is required\. Pass one that resolves/);
  });
});
