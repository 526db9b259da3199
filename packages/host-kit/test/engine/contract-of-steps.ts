import { StepFailure, type StepsEngineOptions, stepsEngine, workflow } from '@svc/host-kit/engine/steps';
import type { EngineContractOptions } from '@svc/host-kit/testing/engine';
import { z } from 'zod';

const any = z.record(z.string(), z.json());

const nodes = workflow({
  id: 'nodes',
  inputs: any,
  async run(_inputs, { step }) {
    const first = await step('first', () => 1);
    const second = await step('second', () => first + 1);
    const third = await step('third', () => second + 1);
    return { third };
  },
});

/** The `nodes` workflow of another release, which left a step out. */
const changedNodes = workflow({
  id: 'nodes',
  inputs: any,
  run: async (_inputs, { step }) => ({ only: await step('other', () => 1) }),
});

const others = [
  workflow({ id: 'echo', inputs: any, run: ({ value }, { step }) => step('echo', () => ({ value: value ?? null })) }),
  workflow({
    id: 'failure',
    inputs: any,
    run: (_inputs, { step }) =>
      step('fails', () => {
        throw new StepFailure('acme.refused', 'The workflow was asked to fail.');
      }),
  }),
  workflow({
    id: 'rest',
    inputs: z.object({ ms: z.number() }),
    run: ({ ms }, { sleep }) => sleep('rest', ms).then(() => ({})),
  }),
  workflow({
    id: 'approval',
    inputs: any,
    async run(_inputs, { ask }) {
      const { decision } = await ask('review', { kind: 'approval', data: { title: 'Good?' } });
      return { decision: decision ?? null };
    },
  }),
  workflow({
    id: 'clarification',
    inputs: any,
    async run(_inputs, { ask }) {
      const data = { questions: [{ id: 'which', question: 'Which?' }], contextType: 'sample' };
      const { resumeValue } = await ask('which', { kind: 'clarification', data });
      return { resumeValue };
    },
  }),
  workflow({
    id: 'event',
    inputs: any,
    run: async (_inputs, { waitForEvent }) => ({
      paid: (await waitForEvent('paid', { eventType: 'shop.paid' })) ?? null,
    }),
  }),
  workflow({
    id: 'artifact',
    inputs: any,
    async run(_inputs, { step }) {
      return step('makes', async ({ artifacts, artifact }) => {
        const [artifactId = await artifact({ artifactType: 'text', content: 'x' })] = artifacts;
        return { artifactId };
      });
    },
  }),
  workflow({
    id: 'compensation',
    inputs: any,
    async run(_inputs, { step }) {
      await step('one', () => 1, { compensate: () => {} });
      await step('two', () => 2, { compensate: () => {} });
      throw new StepFailure('acme.refused', 'The workflow was asked to fail.');
    },
  }),
  workflow({ id: 'child', inputs: any, run: (inputs, { child }) => child('starts', 'echo', inputs) }),
  workflow({
    id: 'effect',
    inputs: z.object({ order: z.string(), url: z.string() }),
    run: ({ order, url }, { step }) =>
      step('pay', ({ effect, fetch }) =>
        effect({ provider: 'acme:pay', identity: { key: order }, isRepeatable: true }, async ({ effectId }) => {
          const headers = { 'idempotency-key': effectId };
          const { status } = await fetch(url, { method: 'POST', headers, body: order });
          return { status };
        }),
      ),
  }),
];

/** Opens the engine of steps with the workflows of the contract. */
export function openSteps(options: Pick<StepsEngineOptions, 'clock'>) {
  return stepsEngine({ workflows: [nodes, ...others], ...options });
}

/** The contract of the engine of steps. */
export const CONTRACT_OF_STEPS: Pick<EngineContractOptions, 'open' | 'workflows'> = {
  open: openSteps,
  workflows: {
    nodes: { workflowId: 'nodes', inputs: {}, nodes: ['first', 'second', 'third'], outputs: { third: 3 } },
    echo: { workflowId: 'echo', inputs: (value) => ({ value }), outputs: (value) => ({ value }) },
    failure: { workflowId: 'failure', inputs: {}, code: 'acme.refused', nodeId: 'fails' },
    rest: { workflowId: 'rest', inputs: { ms: 60_000 }, ms: 60_000 },
    questions: {
      approval: { workflowId: 'approval', inputs: {}, nodeId: 'review', answer: { action: 'accept' } },
      clarification: { workflowId: 'clarification', inputs: {}, nodeId: 'which', answer: { which: 'that' } },
      'external-event': { workflowId: 'event', inputs: {}, nodeId: 'paid', answer: { paid: true } },
    },
    artifact: { workflowId: 'artifact', inputs: {} },
    effect: { workflowId: 'effect', inputs: (order, url) => ({ order, url }) },
    child: { workflowId: 'child', inputs: { value: 7 }, outputs: { value: 7 } },
    compensation: { workflowId: 'compensation', inputs: {}, nodes: ['one', 'two'], code: 'acme.refused' },
    change: {
      code: 'journal_mismatch',
      open: ({ clock }) => stepsEngine({ workflows: [changedNodes, ...others], clock }),
    },
  },
};
