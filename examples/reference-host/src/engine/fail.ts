import type { Workflow } from './workflow.ts';

/** Fails with the message that it is given. */
export const fail: Workflow = {
  refuse({ message }) {
    if (message === undefined || typeof message === 'string') return undefined;
    return { field: 'inputs.message', problem: 'must be a string' };
  },
  *steps({ message }) {
    const error = {
      code: 'sample.failed',
      message: String(message ?? 'The workflow was asked to fail.'),
      retryable: false,
    };
    yield { type: 'node.started', nodeId: 'fail', payload: { nodeId: 'fail', typeId: 'sample.fail', attempt: 0 } };
    yield { type: 'node.failed', nodeId: 'fail', payload: { nodeId: 'fail', error, attempts: 1 } };
    yield { type: 'run.failed', payload: { error, failedNodeId: 'fail' } };
  },
};
