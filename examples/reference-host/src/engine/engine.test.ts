import { engineContract } from '@svc/host-kit/testing/engine';
import { describe, expect, test } from 'vitest';
import { sampleEngine } from './engine.ts';

describe('the engine of the reference host', () => {
  engineContract({
    test,
    assert: { deepEqual: (actual, expected) => expect(actual).toEqual(expected) },
    open: ({ clock }) => sampleEngine(clock.now),
    workflows: {
      nodes: {
        ...{ workflowId: 'count', inputs: { nodes: 3 }, nodes: ['count-0', 'count-1', 'count-2'] },
        outputs: { nodes: 3 },
      },
      echo: { workflowId: 'echo', inputs: (value) => value, outputs: (value) => value },
      failure: { workflowId: 'fail', inputs: {}, code: 'sample.failed', nodeId: 'fail' },
      rest: { workflowId: 'delay', inputs: { ms: 60_000 }, ms: 60_000 },
      questions: {
        approval: { workflowId: 'approval', inputs: {}, nodeId: 'approval', answer: { action: 'accept' } },
        clarification: { workflowId: 'clarification', inputs: {}, nodeId: 'clarification', answer: { answer: 'this' } },
        'external-event': {
          workflowId: 'external-event',
          inputs: {},
          nodeId: 'external-event',
          answer: { is: 'here' },
        },
      },
      artifact: { workflowId: 'artifact', inputs: { content: 'x' } },
      effect: { workflowId: 'pay', inputs: (order, url) => ({ order, url, isRepeatable: true }) },
      child: {
        ...{ workflowId: 'trip', inputs: { nights: 2 } },
        outputs: { seat: '12A', room: 'room for 2' },
      },
      // Its only workflow with compensations has a child besides.
      compensation: 'none',
      change: 'none',
    },
  });
});
