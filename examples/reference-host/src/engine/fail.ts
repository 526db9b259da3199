import { NodeFailure, type Workflow } from './workflow.ts';

/** Fails with `message`, or with a default message. */
export const fail: Workflow = {
  refuse({ message }) {
    if (message === undefined || typeof message === 'string') return undefined;
    return { field: 'inputs.message', problem: 'must be a string' };
  },
  run: ({ message = 'The workflow was asked to fail.' }, { node }) =>
    node('fail', 'sample.fail', async () => {
      throw new NodeFailure({ code: 'sample.failed', message: String(message), retryable: false });
    }),
};
