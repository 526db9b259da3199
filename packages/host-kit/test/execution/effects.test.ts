import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  EffectNotMade,
  type EffectRequest,
  EffectUnsettled,
  type Execution,
  type JsonObject,
  type WorkflowEngine,
} from '@svc/host-kit';
import { postgresStore } from '@svc/host-kit/stores/postgres';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { type RecordedHost, recordedHost } from '../host/recorded-host.ts';

type Perform = Parameters<Execution['effect']>[1];

const KEYED: EffectRequest = { nodeId: 'pay', provider: 'acme:pay', identity: { key: 'order-1' } };
const PLACED: EffectRequest = { nodeId: 'pay', provider: 'acme:pay', identity: { ordinal: 0 } };

/** The attempts that reached the provider. */
let attempts: { readonly effectId: string; readonly isRepeat: boolean }[] = [];
/** Replaces the provider. */
let provider: Perform = async () => ({ receipt: attempts.length });
let requests: readonly EffectRequest[] = [];

const engine: WorkflowEngine = {
  version: 1,
  forks: ['replay', 'branch'],
  async execute({ workflowId }, { effect, interrupt }) {
    const perform: Perform = (attempt) => {
      attempts.push({ effectId: attempt.effectId, isRepeat: attempt.isRepeat });
      return provider(attempt);
    };
    const results: JsonObject[] = [];
    for (const request of requests) {
      const calls = workflowId === 'together' ? [request, request] : [request];
      const made = await Promise.allSettled(calls.map((each) => effect(each, perform)));
      for (const each of made)
        results.push(each.status === 'fulfilled' ? { result: each.value } : failureOf(each.reason));
    }
    if (workflowId === 'throws') await effect(KEYED, perform);
    if (workflowId === 'asks') {
      await interrupt({ nodeId: 'ask', key: 'k', kind: 'custom', data: { customKind: 'ask' } });
    }
    return { status: 'completed', outputs: { results } };
  },
};

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function failureOf(error: unknown): JsonObject {
  if (error instanceof EffectUnsettled) return { unsettled: error.state };
  return { failed: error instanceof Error ? error.message : String(error) };
}

const folder = mkdtempSync(join(tmpdir(), 'effects-'));
const postgres = await startPostgres();
const hosts: RecordedHost[] = [];
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.stop();
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await postgres.stop();
});

let places = 0;
const STORES = [
  ['SQLite', () => sqliteStore(join(folder, `${places}.db`))],
  ['PostgreSQL', () => postgresStore({ url: postgres.url, schema: `effects_${places}`, connections: 4 })],
] as const;

describe.each(STORES)('on %s', (_, openStore) => {
  async function start(asked: readonly EffectRequest[], perform?: Perform): Promise<RecordedHost> {
    places += 1;
    attempts = [];
    requests = asked;
    provider = perform ?? (async () => ({ receipt: attempts.length }));
    return await restarted();
  }

  async function restarted(): Promise<RecordedHost> {
    for (const host of hosts.splice(0)) await host.stop();
    const host = await recordedHost({ store: await openStore(), engine });
    hosts.push(host);
    return host;
  }

  async function ended(host: RecordedHost, runId: string) {
    await host.comesTo(runId, 'completed', 'failed');
    return (await host.log(1, runId)).at(-1).payload.outputs?.results;
  }

  const run = async (host: RecordedHost, workflowId = 'makes', wide = false) =>
    ended(host, await host.start(workflowId, {}, wide));

  const ledger = async (host: RecordedHost, runId: string) =>
    (await host.call(`/runs/${encodeURIComponent(`acme/${runId}`)}/effects`)).body.effects;

  test(`an effect of a business identity is made once in its workspace: ${covers('operations.effects.once')}`, async () => {
    const host = await start([KEYED]);
    expect(await run(host)).toEqual([{ result: { receipt: 1 } }]);
    const second = await host.start('makes');
    expect(await ended(host, second)).toEqual([{ result: { receipt: 1 } }]);
    expect(attempts).toHaveLength(1);
    expect(await ledger(host, second)).toMatchObject([{ keying: 'business-identity', state: 'completed' }]);
    expect(await run(host, 'makes', true)).toEqual([{ result: { receipt: 2 } }]);
    expect(new Set(attempts.map(({ effectId }) => effectId)).size).toBe(2);
  });

  test('an effect of a place is made once in its run', async () => {
    const host = await start([PLACED, PLACED, { ...PLACED, identity: { ordinal: 1 } }]);
    expect(await run(host)).toEqual([1, 1, 2].map((receipt) => ({ result: { receipt } })));
    const second = await host.start('makes');
    expect(await ended(host, second)).toEqual([3, 3, 4].map((receipt) => ({ result: { receipt } })));
    expect((await ledger(host, second)).map(({ keying }: JsonObject) => keying)).toEqual([
      'activity-recipe',
      'activity-recipe',
    ]);
  });

  test('calls for the same effect at the same time share one attempt', async () => {
    const host = await start([KEYED]);
    expect(await run(host, 'together')).toEqual([{ result: { receipt: 1 } }, { result: { receipt: 1 } }]);
    expect(attempts).toHaveLength(1);
  });

  test('a later turn gets the stored result, also after a restart', async () => {
    const runId = await (await start([PLACED])).start('asks');
    await hosts[0]?.comesTo(runId, 'waiting-input');
    const host = await restarted();
    await host.call(`/v1/runs/${runId}/interrupts/ask`, { resumeValue: {} });
    expect(await ended(host, runId)).toEqual([{ result: { receipt: 1 } }]);
    expect(attempts).toHaveLength(1);
  });

  test('an effect that was not made is tried again, with the same id', async () => {
    const host = await start([KEYED, KEYED], async () => {
      if (attempts.length === 1) throw new EffectNotMade('The card was declined.');
      return { receipt: attempts.length };
    });
    expect(await run(host)).toEqual([{ failed: 'The card was declined.' }, { result: { receipt: 2 } }]);
    expect(attempts.map(({ isRepeat }) => isRepeat)).toEqual([false, false]);
    expect(new Set(attempts.map(({ effectId }) => effectId)).size).toBe(1);
  });

  test('an effect of unknown outcome is not repeated, unless its provider recognises the id', async () => {
    const host = await start([KEYED, KEYED, { ...KEYED, isRepeatable: true }, KEYED], async () => {
      if (attempts.length === 1) throw new Error('The connection broke.');
      return { receipt: attempts.length };
    });
    const runId = await host.start('makes');
    expect(await ended(host, runId)).toEqual([
      { failed: 'The connection broke.' },
      { unsettled: 'escaped' },
      { result: { receipt: 2 } },
      { result: { receipt: 2 } },
    ]);
    expect(attempts.map(({ isRepeat }) => isRepeat)).toEqual([false, true]);
    expect(await ledger(host, runId)).toMatchObject([{ state: 'completed' }]);
  });

  test('another run does not make an effect that is being made', async () => {
    const gate = deferred();
    const reached = deferred();
    const host = await start([KEYED], async () => {
      reached.resolve();
      await gate.promise;
      return { receipt: attempts.length };
    });
    const first = await host.start('makes');
    await reached.promise;
    expect(await ledger(host, first)).toMatchObject([{ state: 'claimed', nodeId: 'pay', attempt: 0 }]);
    expect(await run(host)).toEqual([{ unsettled: 'claimed' }]);
    gate.resolve();
    expect(await ended(host, first)).toEqual([{ result: { receipt: 1 } }]);
    expect(attempts).toHaveLength(1);
  });

  test('the late outcome of an attempt whose run was cancelled is recorded', async () => {
    const gate = deferred();
    const reached = deferred();
    const host = await start([KEYED], async () => {
      reached.resolve();
      await gate.promise;
      return { receipt: attempts.length };
    });
    const runId = await host.start('makes');
    await reached.promise;
    await host.call(`/v1/runs/${runId}/cancel`, {});
    gate.resolve();
    await host.comesTo(runId, 'cancelled');
    await expect.poll(() => ledger(host, runId)).toMatchObject([{ state: 'completed' }]);
    expect(await run(host)).toEqual([{ result: { receipt: 1 } }]);
  });

  test('a result of 65 536 characters is stored; a longer one leaves the outcome unknown', async () => {
    const longest = 'x'.repeat(65_534);
    const host = await start([KEYED], async () => longest);
    expect(await run(host)).toEqual([{ result: longest }]);
    expect(await run(host)).toEqual([{ result: longest }]);
    requests = [PLACED, PLACED];
    provider = async () => `${longest}x`;
    expect(await run(host)).toEqual([{ failed: expect.stringContaining('65537') }, { unsettled: 'escaped' }]);
    expect(attempts).toHaveLength(2);
  });

  test('a replay makes no effect', async () => {
    const host = await start([KEYED]);
    const source = await host.start('makes');
    await ended(host, source);
    const fork = await host.call(`/v1/runs/${source}:fork`, { mode: 'replay' });
    expect(await ended(host, fork.body.runId)).toEqual([{ failed: expect.stringMatching(/^effect: a replay has no/) }]);
    expect(await ledger(host, fork.body.runId)).toEqual([]);
  });

  test('a result that is too long is the logged reason for which the engine failed', async () => {
    const host = await start([], async () => 'x'.repeat(65_535));
    const runId = await host.start('throws');
    await ended(host, runId);
    const reasons = host.logged
      .filter(({ event }) => event === 'run.engine-failed')
      .map((each) => JSON.stringify(each));
    expect(reasons).toEqual([
      expect.stringMatching(/at most 65536 are stored\. The outcome .* is now unknown\. Return/),
    ]);
    expect(reasons[0]).toContain(runId);
    expect(await ledger(host, runId)).toMatchObject([{ state: 'escaped' }]);
  });

  const big = BigInt(1) as unknown as JsonObject;
  test.each<[string, Partial<EffectRequest>, RegExp, Perform?]>([
    ['a node id with a space', { nodeId: 'a b' }, /^effect: nodeId must have 1 to 128/],
    ['an empty provider', { provider: '' }, /^effect: provider must have 1 to 128/],
    ['an empty key', { identity: { key: '' } }, /^effect: identity.key must have 1 to 1024/],
    ['a negative ordinal', { identity: { ordinal: -1 } }, /^effect: identity must be \{ key \} or \{ ordinal \}/],
    ['no identity', { identity: undefined as unknown as { key: string } }, /^effect: identity must be/],
    [
      'a result of 65 537 characters',
      {},
      /^effect: the result of perform has 65537 characters of JSON, and at most 65536 are stored\. The outcome of the effect is now unknown/,
      async () => 'x'.repeat(65_535),
    ],
    ['a result that is no JSON', {}, /^effect: the result of perform is no JSON/, async () => big],
  ])('an effect with %s is refused to the engine', async (_name, fields, message, perform) => {
    const host = await start([{ ...KEYED, ...fields }], perform);
    expect(await run(host)).toEqual([{ failed: expect.stringMatching(message) }]);
  });
});
