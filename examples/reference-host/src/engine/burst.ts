import type { Workflow } from './workflow.ts';

/** Writes `events` lines to its log, to test load and order. After a restart it continues with the next line. */
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
        // One large transaction would block the appends of all other runs.
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
