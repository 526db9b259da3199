import type { JsonObject, RunEvent, Store } from '@svc/host-kit';
import { StepFailure, type Steps, stepsEngine, workflow } from '@svc/host-kit/engine/steps';
import { memoryStore } from '@svc/host-kit/stores/memory';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type RecordedHost, recordedHost } from '../host/recorded-host.ts';

const hosts: RecordedHost[] = [];
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.stop();
});

type Work = (steps: Steps) => Promise<object>;

async function hostOf(work: Work, store: Store = memoryStore(), onError?: () => void): Promise<RecordedHost> {
  const sample = workflow({ id: 'sample', inputs: z.object({}), run: (_inputs, steps) => work(steps) });
  const echo = workflow({ id: 'echo', inputs: z.object({ value: z.string() }), run: async (inputs) => inputs });
  const engine = stepsEngine({ workflows: [sample, echo], ...(onError !== undefined && { onError }) });
  const host = await recordedHost({ store, engine });
  hosts.push(host);
  return host;
}

/** Runs a workflow until it ends. */
async function ended(work: Work) {
  const host = await hostOf(work);
  const runId = await host.start('sample');
  await host.comesTo(runId, 'completed', 'failed', 'cancelled');
  return { host, runId, ...(await readBack(host, runId)) };
}

async function readBack(host: RecordedHost, runId: string) {
  const path = `/runs/${encodeURIComponent(`acme/${runId}`)}`;
  const { body: run } = await host.call(path, undefined, { wide: true });
  const { body: compensation } = await host.call(`${path}/compensation`, undefined, { wide: true });
  return { run, compensation, log: await host.log(2, runId) };
}

const typesOf = (log: readonly RunEvent[]) => log.map(({ type, nodeId }) => (nodeId ? `${type} ${nodeId}` : type));
const payloadsOf = (log: readonly RunEvent[], type: string) =>
  log.filter((event) => event.type === type).map(({ payload }) => payload);

function refused(): never {
  throw new StepFailure('acme.refused', 'The step was asked to fail.');
}

/** A workflow whose steps can be undone; the last one fails. */
function booking(undone: string[], names: readonly string[] = ['flight', 'hotel']): Work {
  return async ({ step }) => {
    for (const name of names) {
      await step(name, () => ({ ticket: `t-${name}` }), {
        compensate: ({ ticket }) => {
          undone.push(ticket);
        },
      });
    }
    await step('pay', refused);
    return {};
  };
}

describe('a run that fails', () => {
  test('undoes its completed steps with their results, the last one first, before it ends', async () => {
    const undone: string[] = [];
    const { run, log, compensation } = await ended(booking(undone));
    expect(undone).toEqual(['t-hotel', 't-flight']);
    expect(run).toMatchObject({ status: 'failed', error: { code: 'acme.refused' }, compensationStatus: 'completed' });
    const undo = (name: string) => [
      ...[`compensation.started compensate:${name}`, `node.started compensate:${name}`],
      ...[`compensation.completed compensate:${name}`, `node.completed compensate:${name}`],
    ];
    const from = typesOf(log).indexOf('compensation.requested');
    expect(typesOf(log).slice(from)).toEqual([
      ...['compensation.requested', ...undo('hotel'), ...undo('flight'), 'run.failed'],
    ]);
    expect(payloadsOf(log, 'compensation.requested')).toEqual([
      {
        error: { code: 'acme.refused', message: 'The step was asked to fail.', retryable: false },
        ...{ failedNodeId: 'pay', nodes: ['hotel', 'flight'] },
      },
    ]);
    expect(compensation).toEqual({
      ...{ runId: run.runId, status: 'completed', ordering: 'reverse-completion' },
      compensations: ['hotel', 'flight'].map((nodeId) => ({
        ...{ nodeId, state: 'completed', attempts: 1, at: expect.any(String) },
      })),
    });
  });

  test('undoes steps that ran side by side in the order of their ends', async () => {
    const undone: string[] = [];
    let resolve = () => {};
    const promise = new Promise<void>((told) => {
      resolve = told;
    });
    await ended(async ({ step }) => {
      const compensate = (name: string) => () => {
        undone.push(name);
      };
      await Promise.all([
        step('slow', () => promise, { compensate: compensate('slow') }),
        step('quick', () => 1, { compensate: compensate('quick') }).then(() => resolve()),
      ]);
      return refused();
    });
    expect(undone).toEqual(['slow', 'quick']);
  });

  test('undoes no step that failed, and none without a compensation', async () => {
    const undone: string[] = [];
    const compensate = () => {
      undone.push('wrong');
    };
    const { run, log, compensation } = await ended(async ({ step }) => {
      await step('plain', () => 1);
      await step('fails', refused, { compensate });
      return {};
    });
    expect([undone, run.compensationStatus, compensation.compensations]).toEqual([[], 'none', []]);
    expect(typesOf(log).filter((type) => type.startsWith('compensation'))).toEqual([]);
  });

  test('undoes a child that completed, with its outputs', async () => {
    const undone: JsonObject[] = [];
    const { run } = await ended(async ({ child, step }) => {
      const compensate = (outputs: JsonObject) => {
        undone.push(outputs);
      };
      await child('part', 'echo', { value: 'x' }, { compensate });
      await step('pay', refused);
      return {};
    });
    expect([undone, run.compensationStatus]).toEqual([[{ value: 'x' }], 'completed']);
  });

  test('by an unexpected error is compensated, too, and tells callers nothing of the error', async () => {
    const undone: string[] = [];
    const { run, log, host } = await ended(async (steps) => {
      await booking(undone)(steps).catch(() => {});
      throw new Error('secret of the database');
    });
    expect([undone.length, run.status, run.error.code]).toEqual([2, 'failed', 'internal_error']);
    expect(JSON.stringify(log)).not.toContain('secret of the database');
    expect(JSON.stringify(host.logged)).toContain('secret of the database');
  });

  test('has the effects of its compensations in its ledger', async () => {
    const { host, runId } = await ended(async ({ step }) => {
      await step('charge', () => ({ charge: 'c-1' }), {
        async compensate({ charge }, { effect }) {
          await effect({ provider: 'acme-pay:refund', identity: { key: charge } }, async () => ({ refunded: true }));
        },
      });
      return refused();
    });
    const { body } = await host.call(`/runs/${encodeURIComponent(`acme/${runId}`)}/effects`);
    expect(body.effects).toMatchObject([{ nodeId: 'compensate:charge', state: 'completed' }]);
  });
});

describe('a compensation', () => {
  test('is repeated as the policy of its step says', async () => {
    let attempts = 0;
    const { run, log, compensation } = await ended(async ({ step }) => {
      await step('flight', () => 1, {
        retry: { maxAttempts: 3, delayMs: 0 },
        compensate() {
          attempts += 1;
          if (attempts < 3) throw new Error('away');
        },
      });
      return refused();
    });
    expect([attempts, run.compensationStatus, compensation.compensations[0].attempts]).toEqual([3, 'completed', 3]);
    expect(payloadsOf(log, 'node.retried')).toHaveLength(2);
  });

  test.each([
    ['partial', ['hotel'], ['t-flight']],
    ['failed', ['hotel', 'flight'], []],
  ] as const)('that fails is passed over, and a person is asked for: %s', async (status, failing, expected) => {
    const undone: string[] = [];
    const { run, log, compensation } = await ended(async ({ step }) => {
      for (const name of ['flight', 'hotel'] as const) {
        const compensate = (ticket: string) => {
          if ((failing as readonly string[]).includes(name)) refused();
          undone.push(ticket);
        };
        await step(name, () => `t-${name}`, { compensate });
      }
      return refused();
    });
    expect([undone, run.compensationStatus, compensation.status]).toEqual([expected, status, status]);
    const uncompensated = failing.length;
    expect(payloadsOf(log, 'compensation.manual-intervention-required')).toEqual([{ uncompensated }]);
    expect(typesOf(log).slice(-2)).toEqual(['compensation.manual-intervention-required', 'run.failed']);
    const failed = compensation.compensations.filter(({ state }: { state: string }) => state === 'failed');
    expect(failed[0]).toMatchObject({ error: { code: 'acme.refused', message: 'The step was asked to fail.' } });
    expect(run.error.code).toBe('acme.refused');
  });

  test.each<[string, Work]>([
    ['is no function', ({ step }) => step('x', () => 1, { compensate: JSON.parse('1') }).then(() => ({}))],
    [
      'has a name that is too long',
      ({ step }) => step('x'.repeat(118), () => 1, { compensate: () => {} }).then(() => ({})),
    ],
  ])('that %s fails the run', async (_name, work) => {
    expect((await ended(work)).run).toMatchObject({ status: 'failed', error: { code: 'internal_error' } });
  });
});

describe('nothing is undone', () => {
  test('when the run completes, also after a failure that its workflow caught', async () => {
    const undone: string[] = [];
    const { run, compensation } = await ended(async (steps) => {
      await booking(undone)(steps).catch(() => {});
      return {};
    });
    expect([undone, run.status, run.compensationStatus]).toEqual([[], 'completed', 'none']);
    expect(compensation.compensations.map(({ state }: { state: string }) => state)).toEqual(['pending', 'pending']);
  });

  test('when the run is cancelled: a person is asked for', async () => {
    const undone: string[] = [];
    const host = await hostOf(async ({ step, sleep }) => {
      await step('flight', () => 1, { compensate: () => void undone.push('flight') });
      await sleep('long', 3_600_000);
      return {};
    });
    const runId = await host.start('sample');
    await expect.poll(async () => typesOf(await host.log(2, runId))).toContain('node.started long');
    await host.call(`/v1/runs/${runId}/cancel`, {});
    await host.comesTo(runId, 'cancelled');
    const { run, log } = await readBack(host, runId);
    expect([undone, run.compensationStatus]).toEqual([[], 'manual']);
    expect(payloadsOf(log, 'compensation.manual-intervention-required')).toEqual([{ uncompensated: 1 }]);
  });
});

describe('a host that is stopped while a run compensates', () => {
  test('goes on with the compensation that was under way, and with the failure that was recorded', async () => {
    const store: Store = { ...memoryStore(), close: async () => {} };
    const undone: string[] = [];
    let turns = 0;
    const work =
      (isStuck: boolean): Work =>
      async ({ step }) => {
        turns += 1;
        for (const name of ['one', 'two', 'three']) {
          await step(name, () => name, {
            async compensate(result, { signal }) {
              undone.push(`${result} in turn ${turns}`);
              if (isStuck && name === 'two') {
                await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
              }
            },
          });
        }
        // The code decides otherwise in the next turn. The recorded failure counts.
        if (turns === 1) return refused();
        await step('four', () => undone.push('never'));
        return {};
      };
    const first = await hostOf(work(true), store);
    const runId = await first.start('sample');
    await expect.poll(() => undone).toEqual(['three in turn 1', 'two in turn 1']);
    expect((await readBack(first, runId)).run).toMatchObject({ status: 'running', compensationStatus: 'running' });
    await first.stop();

    const second = await hostOf(work(false), store);
    await second.comesTo(runId, 'failed', 'completed');
    const { run, log } = await readBack(second, runId);
    expect(undone).toEqual(['three in turn 1', 'two in turn 1', 'two in turn 2', 'one in turn 2']);
    expect(run).toMatchObject({ error: { code: 'acme.refused' }, compensationStatus: 'completed' });
    expect(payloadsOf(log, 'compensation.requested')).toHaveLength(1);
  });

  test('asks for a person when the next release no longer undoes a step', async () => {
    const store: Store = { ...memoryStore(), close: async () => {} };
    const stuck: Work = async ({ step }) => {
      await step('one', () => 1, {
        compensate: (_result, { signal }) =>
          new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      });
      return refused();
    };
    const first = await hostOf(stuck, store);
    const runId = await first.start('sample');
    await expect.poll(async () => typesOf(await first.log(2, runId))).toContain('node.started compensate:one');
    await first.stop();
    const second = await hostOf(async ({ step }) => {
      await step('one', () => 1);
      await step('other', () => 2);
      return {};
    }, store);
    await second.comesTo(runId, 'failed');
    const { run, log } = await readBack(second, runId);
    expect([run.error.code, run.compensationStatus]).toEqual(['acme.refused', 'manual']);
    expect(typesOf(log)).not.toContain('node.started other');
  });
});

test('a replay repeats the compensations of its source without doing them', async () => {
  const undone: string[] = [];
  const { host, runId } = await ended(booking(undone));
  const { body } = await host.call(`/v1/runs/${runId}:fork`, { mode: 'replay' });
  await host.comesTo(body.runId, 'failed', 'completed');
  const { run, log, compensation } = await readBack(host, body.runId);
  expect(undone).toHaveLength(2);
  expect(run).toMatchObject({ status: 'failed', compensationStatus: 'completed' });
  expect(compensation.compensations.map(({ nodeId }: { nodeId: string }) => nodeId)).toEqual(['hotel', 'flight']);
  expect(typesOf(log)).not.toContain('replay.diverged');
});

test('whatever steps complete, exactly these are undone, in reverse', async () => {
  const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(names, async (completing) => {
      const undone: string[] = [];
      const { run, host } = await ended(booking(undone, completing));
      expect(undone).toEqual(completing.map((name) => `t-${name}`).reverse());
      expect(run.compensationStatus).toBe(completing.length === 0 ? 'none' : 'completed');
      await host.stop();
    }),
    { numRuns: 8 },
  );
});
