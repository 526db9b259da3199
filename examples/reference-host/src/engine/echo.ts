import type { Workflow } from './workflow.ts';

/** Completes with its inputs as its outputs. */
export const echo: Workflow = {
  refuse: () => undefined,
  run: (inputs, { node }) => node('echo', 'sample.echo', async () => inputs),
};
