import type { Workflow } from './workflow.ts';

/** Completes `ms` after its start. A restart of the host does not extend this time. A pause of the run does. */
export const delay: Workflow = delayOf('ms');

/**
 * Returns the delay workflow with another name of its input.
 *
 * @param input name of the input with the time in ms
 */
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
