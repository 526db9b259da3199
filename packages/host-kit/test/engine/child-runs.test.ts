import { type JsonObject, type RunEvent, RunLeft, type Store } from '@svc/host-kit';
import {
  ChildFailure,
  StepFailure,
  type Steps,
  stepsEngine,
  type Workflow,
  workflow,
} from '@svc/host-kit/engine/steps';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type RecordedHost, recordedHost } from '../host/recorded-host.ts';

const hosts: RecordedHost[] = [];
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.stop();
});

async function hostOf(workflows: readonly Workflow[], store: Store = memoryStore()): Promise<RecordedHost> {
  const host = await recordedHost({ store, engine: stepsEngine({ workflows }) });
  hosts.push(host);
  return host;
}

const double = workflow({
  id: 'double',
  inputs: z.object({ value: z.number() }),
  run: async ({ value }, { step }) => ({ doubled: await step('multiply', () => value * 2) }),
});
const refuse = workflow({
  id: 'refuse',
  inputs: z.object({}),
  async run(): Promise<{ done: boolean }> {
    throw new StepFailure('acme.refused', 'The child was asked to fail.', { retryable: true });
  },
});
/** A child that waits until its question is answered. */
const askFirst = workflow({
  id: 'ask-first',
  inputs: z.object({}),
  run: async (_inputs, { waitForEvent }) => ({ got: await waitForEvent('answer', { eventType: 'sample.answered' }) }),
});

type Work = (steps: Steps, inputs: JsonObject) => Promise<object>;

const parentOf = (work: Work) =>
  workflow({ id: 'parent', inputs: z.record(z.string(), z.json()), run: (inputs, steps) => work(steps, inputs) });

const CHILDREN = [double, refuse, askFirst];

/** Runs a parent until it ends. */
async function ended(work: Work) {
  const host = await hostOf([parentOf(work), ...CHILDREN]);
  const runId = await host.start('parent');
  const run = await host.comesTo(runId, 'completed', 'failed');
  return { host, runId, run, log: await host.log(1, runId) };
}

/** The ids of the children of a run in the order of their creation. */
async function childrenOf(host: RecordedHost, runId: string): Promise<string[]> {
  const { body } = await host.call('/runs?limit=50', undefined, { wide: true });
  const of = body.runs.filter(({ parentRunId }: { parentRunId?: string }) => parentRunId === `acme/${runId}`);
  return of.map((run: { runId: string }) => run.runId.replace('acme/', '')).reverse();
}

const typesOf = (log: readonly RunEvent[]) => log.map(({ type, nodeId }) => (nodeId ? `${type} ${nodeId}` : type));
const payloadOf = (log: readonly RunEvent[], type: string): JsonObject | undefined =>
  // biome-ignore lint/suspicious/noExplicitAny: the payload of an event; each test knows which.
  log.find((event) => event.type === type)?.payload as any;

describe('a child run', () => {
  test('is a run of its own, and its outputs are the result of the step', async () => {
    const { host, runId, run, log } = await ended(async ({ child }) => await child('twice', double, { value: 21 }));
    expect(run.status).toBe('completed');
    expect(payloadOf(log, 'run.completed')).toMatchObject({ outputs: { doubled: 42 } });
    const [childId = ''] = await childrenOf(host, runId);
    const childLog = await host.log(1, childId);
    expect(typesOf(childLog)).toContain('node.completed multiply');
    const started = log.find(({ type }: RunEvent) => type === 'node.started');
    expect(childLog[0]).toMatchObject({ type: 'run.started', causationId: started?.eventId });
  });

  test('is waited for as for another system, and the log of the parent names it', async () => {
    const { runId, host, log } = await ended(({ child }) => child('twice', double, { value: 1 }));
    const [childId] = await childrenOf(host, runId);
    const waits = typesOf(log).filter((type) => !type.startsWith('run.'));
    expect([waits[0], waits.at(-1)]).toEqual(['node.started twice', 'node.completed twice']);
    const asked = payloadOf(log, 'interrupt.requested');
    if (asked !== undefined) {
      expect(asked).toMatchObject({ kind: 'external-event', data: { correlation: { runId: `acme/${childId}` } } });
    }
  });

  test('has the place, the owner, the mode, the tags and the options of its parent', async () => {
    const host = await hostOf([parentOf(({ child }) => child('twice', double, { value: 1 })), ...CHILDREN]);
    const { body } = await host.call('/runs', {
      ...{ workflowId: 'parent', tags: ['nightly'], metadata: { ticket: 7 } },
      configurable: { version: 1, run: { recursionLimit: 5 } },
    });
    const runId = body.runId.replace('acme/', '');
    await host.comesTo(runId, 'completed');
    const [childId = ''] = await childrenOf(host, runId);
    const read = async (id: string) => (await host.call(`/runs/${encodeURIComponent(`acme/${id}`)}`)).body;
    const [parent, child] = [await read(runId), await read(childId)];
    expect(child).toMatchObject({ workflowId: 'double', status: 'completed', parentRunId: `acme/${runId}` });
    for (const name of ['owner', 'mode', 'tags', 'configurable']) expect(child[name]).toEqual(parent[name]);
    expect([parent.parentRunId, child.metadata]).toEqual([undefined, undefined]);
    expect((await host.call(`/v1/runs/${childId}`)).body.parentRunId).toBe(runId);
  });

  test('that fails, fails the step with its code, its message and its type', async () => {
    let caught: unknown;
    const { run, log } = await ended(async ({ child }) => {
      try {
        return await child('risky', refuse, {});
      } catch (error) {
        caught = error;
        throw error;
      }
    });
    expect(caught).toBeInstanceOf(ChildFailure);
    const failure = { code: 'acme.refused', message: 'The child was asked to fail.', retryable: true };
    expect(caught).toMatchObject({ ...failure, status: 'failed', step: 'risky' });
    expect(run).toMatchObject({ status: 'failed', error: { code: 'acme.refused' } });
    expect(payloadOf(log, 'node.failed')).toMatchObject({ error: { ...failure, details: { childStatus: 'failed' } } });
  });

  test('that fails can be caught, also in a later turn', async () => {
    const caught: unknown[] = [];
    const work: Work = async ({ child, waitForEvent }) => {
      await child('risky', refuse, {}).catch((error: unknown) => {
        // The first turn is left while the child runs.
        if (!(error instanceof RunLeft)) caught.push(error);
      });
      await waitForEvent('later', { eventType: 'sample.later' });
      return {};
    };
    const host = await hostOf([parentOf(work), ...CHILDREN]);
    const runId = await host.start('parent');
    await expect.poll(async () => (await host.call(`/v1/runs/${runId}`)).body.currentNodeId).toBe('later');
    const answered = await host.call(`/v1/runs/${runId}/interrupts/later`, { resumeValue: {} });
    expect(answered.status).toBe(200);
    await host.comesTo(runId, 'completed');
    expect(caught.length).toBeGreaterThan(1);
    for (const error of caught) {
      expect(error).toBeInstanceOf(ChildFailure);
      expect(error).toMatchObject({ code: 'acme.refused', status: 'failed' });
    }
  });

  test('runs side by side with others, and each is created once', async () => {
    const { host, runId, run, log } = await ended(async ({ child }) => {
      const each = [1, 2, 3].map((value) => child(`twice-${value}`, double, { value }));
      return { all: (await Promise.all(each)).map(({ doubled }) => doubled) };
    });
    expect(run.status).toBe('completed');
    expect(payloadOf(log, 'run.completed')).toMatchObject({ outputs: { all: [2, 4, 6] } });
    expect(await childrenOf(host, runId)).toHaveLength(3);
  });

  test('by the id of its workflow', async () => {
    const { log } = await ended(({ child }) => child('twice', 'double', { value: 4 }));
    expect(payloadOf(log, 'run.completed')).toMatchObject({ outputs: { doubled: 8 } });
  });

  const refused: readonly [string, Work, object][] = [
    [
      'of an unknown workflow',
      ({ child }) => child('twice', 'unknown', {}),
      { code: 'validation_error', message: expect.stringContaining('workflowId is not a workflow') },
    ],
    [
      'whose workflow does not accept its inputs',
      ({ child }) => child('twice', 'double', { value: 'text' }),
      { code: 'validation_error', message: expect.stringContaining('inputs.value') },
    ],
  ];
  test.each(refused)('%s fails the step, and is not created', async (_name, work, error) => {
    const { host, runId, run } = await ended(work);
    expect(run).toMatchObject({ status: 'failed', error });
    expect(await childrenOf(host, runId)).toEqual([]);
  });

  test('cannot be started within a step', async () => {
    const { run } = await ended(({ step, child }) => step('outer', () => child('twice', double, { value: 1 })));
    expect(run).toMatchObject({ status: 'failed', error: { code: 'internal_error' } });
  });

  test('has at most eight runs above it', async () => {
    const deeper = workflow({
      id: 'deeper',
      inputs: z.object({}),
      run: async (_inputs, { child }): Promise<{ depth: number }> => {
        const below = await child('below', 'deeper', {}).catch((error: unknown) => {
          if (error instanceof StepFailure && error.code === 'sub_chain_depth_exceeded') return { depth: 0 };
          throw error;
        });
        return { depth: Number(below.depth) + 1 };
      },
    });
    const host = await hostOf([deeper]);
    const runId = await host.start('deeper');
    await host.comesTo(runId, 'completed', 'failed');
    expect(payloadOf(await host.log(1, runId), 'run.completed')).toMatchObject({ outputs: { depth: 9 } });
    expect((await host.call('/runs?limit=50')).body.runs).toHaveLength(9);
  });
});

describe('a run that waits for its child', () => {
  /** Starts a parent whose child waits for an answer. */
  async function waiting(store: Store = memoryStore(), work?: Work) {
    const parent = parentOf(work ?? (({ child }) => child('slow', askFirst, {})));
    const host = await hostOf([parent, ...CHILDREN], store);
    const runId = await host.start('parent');
    await host.comesTo(runId, 'waiting-external');
    const [childId = ''] = await childrenOf(host, runId);
    await host.comesTo(childId, 'waiting-external');
    return { host, runId, childId };
  }

  const answer = (host: RecordedHost, childId: string) =>
    host.call(`/v1/runs/${childId}/interrupts/answer`, { resumeValue: { is: 'yes' } });

  test('is resumed by the end of the child', async () => {
    const { host, runId, childId } = await waiting();
    expect((await answer(host, childId)).status).toBe(200);
    await host.comesTo(runId, 'completed');
    expect(payloadOf(await host.log(1, runId), 'run.completed')).toMatchObject({ outputs: { got: { is: 'yes' } } });
  });

  test('takes no answer from a caller', async () => {
    const { host, runId, childId } = await waiting();
    for (const path of [`/v1/runs/${runId}`, `/runs/${encodeURIComponent(`acme/${runId}`)}`]) {
      const { status, body } = await host.call(`${path}/interrupts/slow`, { resumeValue: { status: 'completed' } });
      expect([status, body.error]).toEqual([409, 'run_state_conflict']);
    }
    await answer(host, childId);
    await host.comesTo(runId, 'completed');
  });

  test('cancels its child when it is cancelled', async () => {
    const { host, runId, childId } = await waiting();
    await host.call(`/v1/runs/${runId}/cancel`, {});
    await host.comesTo(childId, 'cancelled');
    const cancelled = payloadOf(await host.log(1, childId), 'run.cancelled');
    expect(cancelled).toMatchObject({ reason: 'parent-cancelled', parentRunId: runId });
    const inMajor2 = payloadOf(await host.log(2, childId), 'run.cancelled');
    expect(inMajor2).toMatchObject({ parentRunId: `acme/${runId}` });
  });

  test('whose child is cancelled fails, unless it catches that', async () => {
    const { host, runId, childId } = await waiting();
    await host.call(`/v1/runs/${childId}/cancel`, {});
    const run = await host.comesTo(runId, 'failed');
    expect(run.error).toMatchObject({ code: 'child_cancelled' });
  });

  test('that fails meanwhile cancels the children that it left behind', async () => {
    const work: Work = async ({ child, step }) => {
      await Promise.all([child('slow', askFirst, {}), step('fails', failing)]);
      return {};
    };
    const host = await hostOf([parentOf(work), ...CHILDREN]);
    const runId = await host.start('parent');
    await host.comesTo(runId, 'failed');
    for (const childId of await childrenOf(host, runId)) {
      await host.comesTo(childId, 'cancelled');
      expect(payloadOf(await host.log(1, childId), 'run.cancelled')).toMatchObject({ reason: 'parent-ended' });
    }
  });

  test('a replay gets the outcome of the child, and starts none', async () => {
    const { host, runId } = await ended(({ child }) => child('twice', double, { value: 3 }));
    const { status, body } = await host.call(`/v1/runs/${runId}:fork`, { mode: 'replay' });
    expect(status).toBe(201);
    await host.comesTo(body.runId, 'completed');
    expect(payloadOf(await host.log(1, body.runId), 'run.completed')).toMatchObject({ outputs: { doubled: 6 } });
    expect(await childrenOf(host, body.runId)).toEqual([]);
  });

  test('a branch that begins before the end of the child starts one of its own', async () => {
    const { host, runId, log } = await ended(({ child }) => child('twice', double, { value: 3 }));
    const { sequence } = log.find(({ type }: RunEvent) => type === 'node.completed') ?? {};
    const { body } = await host.call(`/v1/runs/${runId}:fork`, { mode: 'branch', fromSeq: sequence });
    await host.comesTo(body.runId, 'completed');
    expect(await childrenOf(host, body.runId)).toHaveLength(1);
    expect(await childrenOf(host, runId)).toHaveLength(1);
  });
});

function failing(): never {
  throw new StepFailure('acme.refused', 'The step was asked to fail.');
}

describe('a host that starts', () => {
  /** Makes a family whose parent and child wait, stops its host, and changes one of the runs behind its back. */
  async function left(change: 'parent' | 'child') {
    const store: Store = { ...memoryStore(), close: async () => {} };
    const workflows = [parentOf(({ child }) => child('slow', askFirst, {})), ...CHILDREN];
    const first = await hostOf(workflows, store);
    const runId = await first.start('parent');
    await expect.poll(async () => (await childrenOf(first, runId)).length).toBe(1);
    const [childId = ''] = await childrenOf(first, runId);
    await first.comesTo(childId, 'waiting-external');
    await first.comesTo(runId, 'waiting-external');
    await first.stop();
    await store.transaction(async (transaction) => {
      const [run] = await store.runs.forAppend([change === 'parent' ? runId : childId], transaction);
      if (run !== undefined) await store.runs.update([{ ...run, status: 'cancelled', completedAt: 1 }], transaction);
    });
    return { host: await hostOf(workflows, store), runId, childId };
  }

  test('resumes a parent whose child ended on a host that was killed then', async () => {
    const { host, runId } = await left('child');
    expect((await host.comesTo(runId, 'failed')).error).toMatchObject({ code: 'child_cancelled' });
  });

  test('cancels the child of a parent that ended on a host that was killed then', async () => {
    const { host, runId, childId } = await left('parent');
    await host.comesTo(childId, 'cancelled');
    const cancelled = payloadOf(await host.log(1, childId), 'run.cancelled');
    expect(cancelled).toMatchObject({ reason: 'parent-ended', parentRunId: runId });
  });
});
