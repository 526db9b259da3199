import type { JsonObject, RunEvent, WorkflowEngine } from '@svc/host-kit';
import { StepFailure, type Steps, stepsEngine, workflow } from '@svc/host-kit/engine/steps';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type RecordedHost, recordedHost } from '../host/recorded-host.ts';

const hosts: RecordedHost[] = [];
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.stop();
});

type Work = (steps: Steps, inputs: JsonObject) => Promise<object>;

const anyInputs = z.record(z.string(), z.json());

function engineOf(work: Work): WorkflowEngine {
  const run = (inputs: JsonObject, steps: Steps) => work(steps, inputs);
  return stepsEngine({ workflows: [workflow({ id: 'sample', inputs: anyInputs, run })] });
}

async function hostOf(engine: WorkflowEngine, store = memoryStore()): Promise<RecordedHost> {
  const host = await recordedHost({ store, engine });
  hosts.push(host);
  return host;
}

/** Runs a workflow until it ends, and returns its run and its log. */
async function ended(work: Work, inputs: object = {}) {
  const host = await hostOf(engineOf(work));
  const runId = await host.start('sample', inputs);
  const run = await host.comesTo(runId, 'completed', 'failed');
  const log = await logOf(host, runId);
  return { run, log, outputs: outputsIn(log), logged: host.logged };
}

/** Calls a function as a program does that no compiler checks. */
async function untyped(call: (...args: never[]) => unknown, ...args: readonly unknown[]): Promise<unknown> {
  return Reflect.apply(call, undefined, args);
}

/** The outputs of a completed run. */
function outputsIn(log: readonly RunEvent[]) {
  const payload = payloadOf(log, 'run.completed');
  return typeof payload === 'object' && payload !== null && 'outputs' in payload ? payload.outputs : undefined;
}

async function logOf(host: RecordedHost, runId: string): Promise<RunEvent[]> {
  return host.log(2, runId);
}

const typesOf = (log: readonly RunEvent[]) => log.map(({ type, nodeId }) => (nodeId ? `${type} ${nodeId}` : type));
const payloadOf = (log: readonly RunEvent[], type: string) => log.find((event) => event.type === type)?.payload;

/** Work that fails with these errors, one an attempt, and then succeeds. */
function failing(...errors: readonly unknown[]) {
  let calls = 0;
  return () => {
    if (calls < errors.length) throw errors[calls++];
    return 'done';
  };
}

const AT_ONCE = { delayMs: 0 };

describe('a step', () => {
  test('records its start and its result, which the workflow gets as JSON stores it', async () => {
    let got: unknown;
    const { run, log } = await ended(async ({ step }) => {
      got = await step('quote', () => ({ at: new Date(0), gone: undefined, price: 12 }));
      return { price: 12 };
    });
    expect(got).toEqual({ at: '1970-01-01T00:00:00.000Z', price: 12 });
    expect(run).toMatchObject({ status: 'completed' });
    expect(typesOf(log)).toEqual(['run.started', 'node.started quote', 'node.completed quote', 'run.completed']);
    expect(payloadOf(log, 'node.completed')).toMatchObject({ outputs: { result: got } });
  });

  test('without a result has none', async () => {
    let got: unknown = 'unset';
    await ended(async ({ step }) => {
      got = await step('nothing', () => {});
      return {};
    });
    expect(got).toBeUndefined();
  });

  test('that fails is repeated, as often as its policy says, and each repetition is an event', async () => {
    const work = failing(new Error('first'), new Error('second'));
    const { outputs, log } = await ended(async ({ step }) => ({
      result: await step('flaky', work, { retry: { maxAttempts: 3, ...AT_ONCE } }),
    }));
    expect(outputs).toEqual({ result: 'done' });
    expect(typesOf(log).slice(1, -1)).toEqual([
      ...['node.started flaky', 'node.retried flaky', 'node.started flaky', 'node.retried flaky'],
      ...['node.started flaky', 'node.completed flaky'],
    ]);
    const [first, second] = log.filter(({ type }) => type === 'node.retried');
    const lastError = { code: 'internal_error', message: 'The step failed.', retryable: false };
    expect(first?.payload).toEqual({ nodeId: 'flaky', attempt: 1, delayMs: 0, lastError });
    expect(second?.payload).toMatchObject({ attempt: 2 });
  });

  test('that fails for the last time fails the run, and tells callers nothing of its error', async () => {
    const secret = new Error('connect ECONNREFUSED 10.0.0.7:5432');
    const { run, log, logged } = await ended(({ step }) =>
      step('db', failing(secret, secret), { retry: { maxAttempts: 2, ...AT_ONCE } }).then(() => ({})),
    );
    expect(run).toMatchObject({ status: 'failed', error: { code: 'internal_error' } });
    expect(payloadOf(log, 'node.failed')).toMatchObject({ attempts: 2, error: { message: 'The step failed.' } });
    expect(JSON.stringify([run, log])).not.toContain('10.0.0.7');
    // The operator sees it.
    expect(JSON.stringify(logged)).toContain('10.0.0.7');
  });

  test('that fails is told to onError, whose own error changes nothing', async () => {
    const told: unknown[] = [];
    const engine = stepsEngine({
      workflows: [
        workflow({
          id: 'sample',
          inputs: anyInputs,
          run: (_inputs, { step }) => step('db', failing(new Error('away'))).then(() => ({})),
        }),
      ],
      onError(error, { step }) {
        told.push([String(error), step]);
        throw new Error('the observer is broken');
      },
    });
    const host = await hostOf(engine);
    const run = await host.comesTo(await host.start('sample'), 'completed', 'failed');
    expect(run).toMatchObject({ status: 'failed', error: { code: 'internal_error', message: 'The step failed.' } });
    expect(told).toEqual([['Error: away', 'db']]);
  });

  test('that throws a StepFailure fails at once, with its code and message', async () => {
    const { run, log } = await ended(({ step }) =>
      step('pay', failing(new StepFailure('payment_refused', 'The bank refused the card.')), {
        retry: { maxAttempts: 5 },
      }).then(() => ({})),
    );
    const error = { code: 'payment_refused', message: 'The bank refused the card.' };
    expect(run).toMatchObject({ status: 'failed', error });
    expect(payloadOf(log, 'run.failed')).toMatchObject({ failedNodeId: 'pay', error });
    expect(typesOf(log)).not.toContain('node.retried pay');
  });

  test('that failed can be caught, and the workflow goes on', async () => {
    const { outputs } = await ended(async ({ step }) => {
      try {
        await step('pay', failing(new StepFailure('payment_refused', 'The bank refused the card.')));
        return {};
      } catch (error) {
        if (!(error instanceof StepFailure)) throw error;
        return { code: error.code, step: error.step };
      }
    });
    expect(outputs).toEqual({ code: 'payment_refused', step: 'pay' });
  });

  test('runs beside others, and a failure of one leaves the others to end', async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { run, log } = await ended(({ step }) =>
      Promise.all([
        step('fails', async () => {
          setTimeout(release);
          throw new StepFailure('broken', 'It broke.');
        }),
        step('goes-on', () => gate),
      ]).then(() => ({})),
    );
    expect(run).toMatchObject({ status: 'failed', error: { code: 'broken' } });
    expect(typesOf(log)).toContain('node.completed goes-on');
  });

  test.each([
    ['an empty name', (steps: Steps) => steps.step('', () => 1), /The name of a step must be a text of 1 to 128/],
    ['a long name', (steps: Steps) => steps.step('x'.repeat(129), () => 1), /The name of a step/],
    ['no attempt', (steps: Steps) => steps.step('a', () => 1, { retry: { maxAttempts: 0 } }), /retry\.maxAttempts/],
    ['a bad factor', (steps: Steps) => steps.step('a', () => 1, { retry: { maxAttempts: 2, factor: 0 } }), /factor/],
    [
      'a misspelt option',
      (steps: Steps) => untyped(steps.step, 'a', () => 1, { retries: 3 }),
      /step a: unknown option retries\. The options there are retry, compensate\./,
    ],
    [
      'a misspelt member of retry',
      (steps: Steps) => untyped(steps.step, 'a', () => 1, { retry: { attempts: 3 } }),
      /step a: unknown option retry\.attempts/,
    ],
    [
      'work that was called already',
      (steps: Steps) => untyped(steps.step, 'a', 'done'),
      /step a: its work must be a function/,
    ],
    ['a bad time', (steps: Steps) => steps.sleep('a', -1), /sleep a: ms must be a whole number/],
    [
      'a name that is used twice',
      (steps: Steps) => steps.step('a', () => 1).then(() => steps.step('a', () => 2)),
      /step a: is used twice\. Give each step of a run a name of its own, such as a-2\./,
    ],
  ])('with %s fails the run', async (_fault, use, message) => {
    let thrown: unknown;
    const { run } = await ended(async (steps) => {
      await use(steps).catch((error: unknown) => {
        thrown = error;
        throw error;
      });
      return {};
    });
    expect(String(thrown)).toMatch(message);
    expect(run).toMatchObject({ status: 'failed', error: { code: 'internal_error' } });
  });

  test.each<[string, (steps: Steps) => Promise<unknown>]>([
    ['step', ({ step }) => step('inner', () => 1)],
    ['sleep', ({ sleep }) => sleep('inner', 1)],
    ['question', ({ waitForEvent }) => waitForEvent('inner', { eventType: 'shop.paid' })],
  ])('whose work uses a %s fails, and waits for nothing', async (_kind, use) => {
    const { run, logged } = await ended((steps) => steps.step('outer', () => use(steps)).then(() => ({})));
    expect(run.status).toBe('failed');
    expect(JSON.stringify(logged)).toContain('step inner: is used within the step outer.');
  });

  test.each([
    ['a bigint', () => 1n],
    ['a cycle', cycle],
    ['a function', () => () => 1],
  ])('whose result is %s fails', async (_kind, work) => {
    const { run, logged } = await ended(({ step }) => step('odd', work as () => unknown).then(() => ({})));
    expect(run.status).toBe('failed');
    expect(JSON.stringify(logged)).toContain('step odd: its result cannot be stored as JSON. Return plain data.');
  });
});

function cycle(): object {
  const self: { self?: object } = {};
  self.self = self;
  return self;
}

describe('a workflow that goes on', () => {
  test('after an answer does no step again', async () => {
    const done: string[] = [];
    const host = await hostOf(
      engineOf(async ({ step, ask }) => {
        const draft = await step('draft', () => done.push('draft'));
        const { decision, resumeValue } = await ask('review', { kind: 'approval', data: { title: 'Good?' } });
        await step('publish', () => done.push('publish'));
        return { draft, decision, resumeValue };
      }),
    );
    const runId = await host.start('sample');
    await host.comesTo(runId, 'waiting-approval');
    expect(done).toEqual(['draft']);
    const { status } = await host.call(`/v1/runs/${runId}/interrupts/review`, { resumeValue: { action: 'accept' } });
    expect(status).toBe(200);
    await host.comesTo(runId, 'completed', 'failed');
    expect(outputsIn(await logOf(host, runId))).toMatchObject({
      draft: 1,
      decision: 'granted',
      resumeValue: { action: 'accept' },
    });
    expect(done).toEqual(['draft', 'publish']);
  });

  test('lets steps that were started before a question end first', async () => {
    const done: string[] = [];
    const host = await hostOf(
      engineOf(async ({ step, waitForEvent }) => {
        const [, event] = await Promise.all([
          step('slow', async () => {
            await new Promise((resolve) => setTimeout(resolve, 20));
            done.push('slow');
          }),
          waitForEvent('paid', { eventType: 'shop.paid' }),
        ]);
        return { event };
      }),
    );
    const runId = await host.start('sample');
    await host.comesTo(runId, 'waiting-external-event', 'waiting-external');
    expect(done).toEqual(['slow']);
    expect((await host.call(`/v1/runs/${runId}/interrupts/paid`, { resumeValue: { amount: 3 } })).status).toBe(200);
    await host.comesTo(runId, 'completed', 'failed');
    expect(outputsIn(await logOf(host, runId))).toEqual({ event: { amount: 3 } });
    expect(done).toEqual(['slow']);
  });

  test('has no event when none came in time', async () => {
    const { outputs } = await ended(async ({ waitForEvent }) => ({
      event: (await waitForEvent('paid', { eventType: 'shop.paid', timeoutMs: 1 })) ?? 'none',
    }));
    expect(outputs).toEqual({ event: 'none' });
  });

  test('with the next host does no step again, repeats the one under way, and sleeps for the rest of its time', async () => {
    const store = memoryStore();
    const done: string[] = [];
    let isDown = true;
    const work: Work = async ({ step, sleep }) => {
      await step('first', () => done.push('first'));
      await sleep('rest', 50);
      await step('second', async ({ attempt, signal }) => {
        done.push(`second ${attempt}`);
        if (isDown)
          await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      });
      return {};
    };
    const first = await recordedHost({ store: { ...store, close: async () => {} }, engine: engineOf(work) });
    const runId = await first.start('sample');
    await expect.poll(() => done, { timeout: 25_000 }).toEqual(['first', 'second 0']);
    await first.stop();
    isDown = false;
    const second = await hostOf(engineOf(work), store);
    expect(await second.comesTo(runId, 'completed', 'failed')).toMatchObject({ status: 'completed' });
    expect(done).toEqual(['first', 'second 0', 'second 1']);
    const types = typesOf(await logOf(second, runId));
    expect(types.filter((type) => type.endsWith('rest'))).toEqual(['node.started rest', 'node.completed rest']);
  });

  test('after a pause goes on with the attempts that are left', async () => {
    let attempts = 0;
    const host = await hostOf(
      engineOf(async ({ step }) => {
        await step(
          'flaky',
          () => {
            attempts++;
            throw new Error('away');
          },
          { retry: { maxAttempts: 2, delayMs: 3000, factor: 1 } },
        );
        return {};
      }),
    );
    const runId = await host.start('sample');
    await expect.poll(() => attempts, { timeout: 25_000 }).toBe(1);
    await host.call(`/v1/runs/${runId}:pause`, {});
    await host.comesTo(runId, 'paused');
    await host.call(`/v1/runs/${runId}:resume`, {});
    const run = await host.comesTo(runId, 'completed', 'failed');
    expect(run.status).toBe('failed');
    expect(attempts).toBe(2);
  });
});

describe('a workflow whose code has changed', () => {
  const question = { kind: 'approval', data: { title: 'Good?' } } as const;

  /** Runs `before` up to its question, then `after` with the answer. */
  async function changed(before: Work, after: Work) {
    let work = before;
    const host = await hostOf(engineOf((steps, inputs) => work(steps, inputs)));
    const runId = await host.start('sample');
    await host.comesTo(runId, 'waiting-approval');
    work = after;
    await host.call(`/v1/runs/${runId}/interrupts/review`, { resumeValue: { action: 'accept' } });
    return { run: await host.comesTo(runId, 'completed', 'failed'), log: await logOf(host, runId) };
  }

  const ask = ({ ask }: Steps) => ask('review', question);

  test.each<[title: string, after: Work, message: string]>([
    [
      'uses the name of a step for another kind',
      async (steps) => {
        await steps.sleep('draft', 1);
        await ask(steps);
        return {};
      },
      'The run has recorded draft as a step, and its workflow now uses it as a sleep.',
    ],
    [
      'ends without a recorded step',
      async (steps) => {
        await ask(steps);
        return {};
      },
      'The workflow ended without the step draft, which its run has recorded. Its code has changed.',
    ],
  ])('and %s fails its run, with the reason', async (_title, after, message) => {
    const { run } = await changed(async (steps) => {
      await steps.step('draft', () => 1);
      await ask(steps);
      return {};
    }, after);
    expect(run).toMatchObject({ status: 'failed', error: { code: 'journal_mismatch', message } });
  });

  test('is not one that leaves a branch behind', async () => {
    const host = await hostOf(
      engineOf(async ({ step, ask: asked, sleep }) => {
        const branch = (async () => {
          for (let index = 0; index < 20; index++) await step(`branch-${index}`, () => index);
        })();
        await step('main', () => branch);
        await asked('review', question);
        const left = (async () => {
          await sleep('never', 86_400_000);
        })();
        left.catch(() => {});
        return {};
      }),
    );
    const runId = await host.start('sample');
    await host.comesTo(runId, 'waiting-approval');
    await host.call(`/v1/runs/${runId}/interrupts/review`, { resumeValue: { action: 'accept' } });
    expect((await host.comesTo(runId, 'completed', 'failed')).status).toBe('completed');
  });

  test.each([
    ['passed the place of a patch before goes on as it began', true, false],
    ['comes to the place of a patch later follows it', false, true],
  ])('and that %s', async (_title, isBefore, expected) => {
    const seen: boolean[] = [];
    const { run } = await changed(
      async (steps) => {
        await ask(steps);
        return {};
      },
      async (steps) => {
        if (isBefore) seen.push(await steps.patched('check-stock'));
        await ask(steps);
        if (!isBefore) seen.push(await steps.patched('check-stock'));
        return {};
      },
    );
    expect(run.status).toBe('completed');
    expect(seen).toEqual([expected]);
  });

  test('a new run follows every patch', async () => {
    const { outputs, log } = await ended(async ({ patched }) => ({ isPatched: await patched('check-stock') }));
    expect(outputs).toEqual({ isPatched: true });
    expect(typesOf(log)).toContain('node.completed check-stock');
  });
});

describe('the schemas of a workflow', () => {
  const order = workflow({
    id: 'order',
    title: 'Orders goods',
    inputs: z.object({ items: z.array(z.object({ sku: z.string().min(1) })).min(1), note: z.string().default('none') }),
    outputs: z.object({ count: z.number().int().positive() }),
    async run({ items, note }, { step }) {
      return step('order', () => ({ count: note === 'none' ? items.length : -1 }));
    },
  });
  const engine = stepsEngine({ workflows: [order] });

  test('reject a run before it exists, and name the input at fault', async () => {
    const host = await hostOf(engine);
    const inputs = { items: [{ sku: 'a' }, { sku: 7 }] };
    const { status, body } = await host.call('/v1/runs', { workflowId: 'order', inputs });
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain('inputs.items.1.sku');
  });

  test('give the workflow the value that the schema returns', async () => {
    const host = await hostOf(engine);
    const runId = await host.start('order', { items: [{ sku: 'a' }] });
    await host.comesTo(runId, 'completed', 'failed');
    expect(outputsIn(await logOf(host, runId))).toEqual({ count: 1 });
  });

  test('fail a run whose outputs they reject', async () => {
    const host = await hostOf(engine);
    const runId = await host.start('order', { items: [{ sku: 'a' }], note: 'negative' });
    expect(await host.comesTo(runId, 'completed', 'failed')).toMatchObject({
      ...{ status: 'failed', error: { code: 'internal_error' } },
    });
    expect(JSON.stringify(host.logged)).toContain('workflow order: outputs.count is not accepted by its schema');
  });

  test('describe the workflow for clients', () => {
    expect(engine.describe?.('order')).toMatchObject({
      ...{ workflowId: 'order', title: 'Orders goods' },
      inputSchema: { type: 'object', required: ['items'], properties: { items: { type: 'array', minItems: 1 } } },
    });
    expect(engine.describe?.('other')).toBeUndefined();
  });

  test('must not validate with a promise', () => {
    const inputs = z.object({}).refine(async () => true);
    const late = stepsEngine({ workflows: [workflow({ id: 'late', inputs, run: async () => ({}) })] });
    expect(() => late.accepts?.('late', {})).toThrow('schema: validates with a promise.');
  });
});

test('an engine names its workflows when another one is asked for', () => {
  const run = async () => ({});
  const two = ['a', 'b'].map((id) => workflow({ id, inputs: anyInputs, run }));
  expect(stepsEngine({ workflows: two }).accepts?.('c', {})).toEqual({
    ...{ field: 'workflowId', problem: 'is not a workflow of this host: use one of a, b' },
  });
});

test.each<[string, () => unknown, string]>([
  ['no workflow', () => stepsEngine({ workflows: [] }), 'stepsEngine: workflows must name one or more.'],
  [
    'two workflows of one id',
    () => {
      const same = workflow({ id: 'a', inputs: anyInputs, run: async () => ({}) });
      return stepsEngine({ workflows: [same, same] });
    },
    'stepsEngine: two workflows have the id a. Rename one.',
  ],
  [
    'an empty id',
    () => workflow({ id: '', inputs: anyInputs, run: async () => ({}) }),
    'workflow: id must be a text of 1 to 256 characters.',
  ],
  [
    'a workflow without inputs',
    () => Reflect.apply(workflow, undefined, [{ id: 'a', run: async () => ({}) }]),
    'workflow a: inputs is required. Pass one such as z.object({ name: z.string() }).',
  ],
  [
    'a workflow whose inputs are no schema',
    () => Reflect.apply(workflow, undefined, [{ id: 'a', inputs: { name: 'string' }, run: async () => ({}) }]),
    'workflow a: inputs must be a schema. Pass one such as z.object({ name: z.string() }).',
  ],
  [
    'a workflow that does nothing',
    () => Reflect.apply(workflow, undefined, [{ id: 'a', inputs: anyInputs }]),
    'workflow a: run is required. Pass the function that does the work: run: async (inputs, { step }) => ({}).',
  ],
  [
    'a misspelt part of a workflow',
    () => Reflect.apply(workflow, undefined, [{ id: 'a', input: anyInputs, run: async () => ({}) }]),
    'workflow: unknown option input. Did you mean inputs?',
  ],
])('%s is rejected', (_title, make, message) => {
  expect(make).toThrow(new TypeError(message));
});
