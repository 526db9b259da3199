import type { Workflow } from './workflow.ts';

/** Completes a given time after its start, restarts of the host included and pauses of the run not. */
export const delay: Workflow = delayOf('ms');

/** @param input the name of the input that says how long, in ms */
export function delayOf(input: string): Workflow {
  return {
    refuse({ [input]: ms }) {
      if (typeof ms === 'number' && Number.isInteger(ms) && ms >= 0 && ms <= LONGEST_MS) return undefined;
      return { field: `inputs.${input}`, problem: `must be a whole number of milliseconds from 0 to ${LONGEST_MS}` };
    },
    run: ({ [input]: ms }, { node }) =>
      node(
        'delay',
        'sample.delay',
        async ({ rest }) => {
          await rest(Number(ms));
          return { [input]: Number(ms) };
        },
        { goesOn: true },
      ),
  };
}

const LONGEST_MS = 60_000;
