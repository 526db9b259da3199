import type { Workflow } from './workflow.ts';

/** Writes so many lines to its log, for load and for order. A restart goes on from the last one. */
export const burst: Workflow = {
  refuse({ events }) {
    if (typeof events === 'number' && Number.isInteger(events) && events >= 0 && events <= MOST_EVENTS)
      return undefined;
    return { field: 'inputs.events', problem: `must be a whole number from 0 to ${MOST_EVENTS}` };
  },
  run: ({ events }, { node }) =>
    node(
      'burst',
      'sample.burst',
      async ({ lines, write }) => {
        const wanted = Number(events);
        // Few enough at a time that others have their turn between.
        for (let next = lines; next < wanted; next += BATCH) {
          const count = Math.min(BATCH, wanted - next);
          await write(Array.from({ length: count }, (_, index) => `line ${next + index}`));
        }
        return { events: wanted };
      },
      { goesOn: true },
    ),
};

const MOST_EVENTS = 100_000;
const BATCH = 100;
