import { completed, node, type Workflow } from './workflow.ts';

/** Completes with its inputs as its outputs. */
export const echo: Workflow = {
  refuse: () => undefined,
  *steps(inputs) {
    yield* node('echo', 'sample.echo', inputs);
    yield completed(inputs);
  },
};
