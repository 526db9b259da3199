import type { WorkflowEngine } from '@svc/host-kit';
import { stepsEngine } from '@svc/host-kit/engine/steps';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { CONFORMANCE_FIXTURES, conformanceWorkflows, withConformanceFixtures } from '@svc/host-kit/testing/conformance';
import { afterEach, describe, expect, test } from 'vitest';
import { type RecordedHost, recordedHost } from '../host/recorded-host.ts';

const hosts: RecordedHost[] = [];
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.stop();
});

/** An engine of one workflow that knows nothing of steps. */
const GREETS: WorkflowEngine = {
  version: 7,
  forks: ['replay'],
  interrupts: ['approval'],
  events: ['log.appended'],
  accepts: (workflowId) => workflowId === 'greet',
  execute: async () => ({ status: 'completed', outputs: { greeting: 'Hello' } }),
};

async function hostOf(engine: WorkflowEngine): Promise<RecordedHost> {
  const host = await recordedHost({ store: memoryStore(), engine, discovery: { fixtures: CONFORMANCE_FIXTURES } });
  hosts.push(host);
  return host;
}

describe('an engine with the fixtures of the suite', () => {
  const engine = withConformanceFixtures(GREETS);

  test('keeps what the engine declares, asks questions of every kind, and may append every event', () => {
    expect(engine).toMatchObject({
      ...{ version: 7, forks: ['replay'] },
      interrupts: ['approval', 'clarification', 'external-event'],
    });
    expect(engine.events).toBeUndefined();
    expect(engine.compensation).toBeUndefined();
  });

  test('may be that of a class, with declarations that are getters', async () => {
    class Greeter implements WorkflowEngine {
      readonly version = 7;
      readonly #greeting = 'Hello';

      get otherVersions() {
        return [6];
      }

      get forks() {
        return ['replay'] as const;
      }

      accepts(workflowId: string) {
        return workflowId === 'greet' || { field: 'workflowId', problem: `must be greet: ${this.#greeting}` };
      }

      async execute() {
        return { status: 'completed' as const, outputs: { greeting: this.#greeting } };
      }

      describe(workflowId: string) {
        return workflowId === 'greet' ? { workflowId, name: this.#greeting } : undefined;
      }
    }
    const wrapped = withConformanceFixtures(new Greeter());
    expect(wrapped).toMatchObject({ version: 7, otherVersions: [6], forks: ['replay'] });
    expect(wrapped.describe?.('greet')).toEqual({ workflowId: 'greet', name: 'Hello' });
    const host = await hostOf(wrapped);
    await host.comesTo(await host.start('greet'), 'completed');
    await host.comesTo(await host.start('conformance-noop'), 'completed');
  });

  test('leaves other workflows to the engine', async () => {
    const host = await hostOf(engine);
    await host.comesTo(await host.start('greet'), 'completed');
    expect(engine.accepts?.('sing', {})).toBe(false);
    expect(engine.describe?.('greet')).toBeUndefined();
  });

  test.each([
    ['conformance-noop', {}, 'completed'],
    ['conformance-failure', {}, 'failed'],
    ['conformance-delay', { delayMs: 1 }, 'completed'],
    ['conformance-cancellable', {}, 'completed'],
    ['conformance-idempotent', { nonce: 'one' }, 'completed'],
    ['conformance-effect', {}, 'completed'],
    ['conformance-approval', {}, 'waiting-approval'],
    ['conformance-approval-quorum', {}, 'waiting-approval'],
    ['conformance-clarification', {}, 'waiting-input'],
    ['conformance-interrupt-external-event', {}, 'waiting-external'],
  ] as const)('executes %s with the inputs %j: the run is then %s', async (workflowId, inputs, status) => {
    const host = await hostOf(engine);
    expect(engine.describe?.(workflowId)).toMatchObject({ workflowId });
    await host.comesTo(await host.start(workflowId, inputs), status);
  });

  test.each([
    ['conformance-delay', { delayMs: true }],
    ['conformance-idempotent', { nonce: 7 }],
  ])('refuses wrong inputs of %s', (workflowId, inputs) => {
    expect(engine.accepts?.(workflowId, inputs)).toMatchObject({ field: `inputs.${Object.keys(inputs)[0]}` });
  });
});

test('the fixtures are workflows of an engine of steps, too', () => {
  const engine = stepsEngine({ workflows: conformanceWorkflows });
  for (const id of CONFORMANCE_FIXTURES) expect(engine.describe?.(id)).toMatchObject({ workflowId: id });
});
