import type { JsonObject, WorkflowEngine } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { afterEach, describe, expect, test } from 'vitest';
import { type RecordedHost, recordedHost } from './recorded-host.ts';

/** Completes with the options that the run got. */
const plain: WorkflowEngine = {
  version: 1,
  forks: ['branch'],
  execute: async (_run, { configurable }) => ({
    status: 'completed',
    outputs: JSON.parse(JSON.stringify(configurable)),
  }),
};
const withAi: WorkflowEngine = { ...plain, configurable: ['ai', 'budget', 'distillation'] };

let host: RecordedHost | undefined;
afterEach(() => host?.stop());

async function start(engine: WorkflowEngine) {
  const capabilities = { limits: { maxRunDurationMs: 60_000 } };
  const started = await recordedHost({ store: memoryStore(), engine, discovery: capabilities });
  host = started;
  const create = (configurable: JsonObject, base = '') =>
    started.call(`${base}/runs`, { workflowId: 'w', configurable });
  return {
    ...started,
    create,
    /** Creates a run and returns the options that its engine got. */
    async optionsOf(configurable: JsonObject, base = '') {
      const { status, body } = await create(configurable, base);
      expect([status, body.error]).toEqual([201, undefined]);
      const runId = body.runId.replace(/^.*\//, '');
      await started.comesTo(runId, 'completed');
      return (await started.log(1, runId)).at(-1).payload.outputs;
    },
  };
}

const AI = { provider: 'p', model: 'm', temperature: 2, maxTokens: 10, reasoningVerbosity: 'none', maxRefusals: 0 };

describe('the sections of configurable', () => {
  test('reach an engine that declares them', async () => {
    const { optionsOf } = await start(withAi);
    const sections = { ai: { ...AI, promptOverrides: { system: 's' } }, budget: { tokens: 5 } };
    const options = { run: { escalationThreshold: 0.5 }, ...sections, distillation: { tokenBudget: 7 } };
    expect(await optionsOf({ version: 1, ...options })).toEqual(options);
  });

  test.each(['ai', 'budget', 'distillation'])('are rejected by name for an engine that does not: %s', async (name) => {
    const { create } = await start(plain);
    const { status, body } = await create({ version: 1, [name]: {} });
    expect([status, body.error]).toEqual([400, 'validation_error']);
    expect(body.message).toContain(name);
  });

  test('are made of the reserved keys of major 1, for an engine that declares them', async () => {
    const keys = { recursionLimit: 3, model: 'm', temperature: 9, maxTokens: 4, own: true };
    const { optionsOf } = await start(withAi);
    expect(await optionsOf(keys, '/v1')).toEqual({ run: { recursionLimit: 3 }, ai: { model: 'm', maxTokens: 4 } });
    await host?.stop();
    expect(await (await start(plain)).optionsOf(keys, '/v1')).toEqual({ run: { recursionLimit: 3 } });
  });

  test.each<readonly [string, number, string, JsonObject]>([
    ['a temperature above 2', 400, 'validation_error', { ai: { temperature: 2.1 } }],
    ['an unknown member of ai', 400, 'validation_error', { ai: { modell: 'm' } }],
    ['a runTimeoutMs above the limit of the host', 400, 'validation_error', { run: { runTimeoutMs: 60_001 } }],
    ['a simulated provider in live mode', 403, 'mock_provider_forbidden', { ai: { mockProvider: 'm' } }],
    ['a credential that is no secret of the tenant', 403, 'credential_forbidden', { ai: { credentialRef: 'none' } }],
  ])('are rejected with %s, in a creation and in a fork', async (_, status, error, sections) => {
    const { call, create, start: startRun, comesTo } = await start(withAi);
    expect(await create({ version: 1, ...sections })).toMatchObject({ status, body: { error } });
    const runId = await startRun('w');
    await comesTo(runId, 'completed');
    const runOptionsOverlay = { configurable: { version: 1, ...sections } };
    const fork = { mode: 'branch', fromSeq: 1, runOptionsOverlay };
    const path = `/runs/${encodeURIComponent(`acme/${runId}`)}:fork`;
    expect(await call(path, fork)).toMatchObject({ status, body: { error } });
  });

  test('name a secret that the run can open', async () => {
    const { call, optionsOf } = await start(withAi);
    await call('/host/example/byok/secrets/openai', { value: 'sk-0123456789' }, { method: 'PUT' });
    const ai = { credentialRef: 'openai' };
    expect(await optionsOf({ version: 1, ai })).toEqual({ ai });
  });
});
