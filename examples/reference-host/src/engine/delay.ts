import type { Workflow } from './workflow.ts';

/** Completes `ms` after its start. A restart of the host does not extend this time. A pause of the run does. */
export const delay: Workflow = {
  refuse({ ms }) {
    if (typeof ms === 'number' && Number.isInteger(ms) && ms >= 0 && ms <= LONGEST_MS) return undefined;
    return { field: 'inputs.ms', problem: `must be a whole number of milliseconds from 0 to ${LONGEST_MS}` };
  },
  run: ({ ms }, { node }) =>
    node(
      'delay',
      'sample.delay',
      async ({ rest }) => {
        await rest(Number(ms));
        return { ms: Number(ms) };
      },
      { goesOn: true },
    ),
};

const LONGEST_MS = 60_000;
