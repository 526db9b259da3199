import type { Workflow } from './workflow.ts';

/** Executes `nodes` nodes, one after the other. */
export const count: Workflow = {
  refuse({ nodes }) {
    const isCount = typeof nodes === 'number' && Number.isInteger(nodes) && nodes >= 0 && nodes <= MOST_NODES;
    return isCount ? undefined : { field: 'inputs.nodes', problem: `must be a whole number from 0 to ${MOST_NODES}` };
  },
  async run({ nodes }, { node }) {
    for (let index = 0; index < Number(nodes); index++) {
      await node(`count-${index}`, 'sample.count', async () => ({ index }));
    }
    return { nodes: Number(nodes) };
  },
};

const MOST_NODES = 10_000;
