import type { Major } from '@svc/versioning';
import type { Json, JsonObject } from '../json.ts';
import type { Polled } from '../streams/poll.ts';
import { eventBody, runIdOf } from './event.ts';

/** How a major calls the query parameter that names the last event a caller has; the first that is given counts. */
export const CURSOR_PARAMETERS: Readonly<Record<Major, { readonly names: readonly string[]; readonly min: number }>> = {
  // Older clients say that they have none yet by -1.
  1: { names: ['lastSequence', 'since'], min: -1 },
  2: { names: ['afterSequence'], min: 0 },
};

/** What a poll answers. The body of major 1 is open, and carries what its clients of different ages look for. */
export const pollBody: Readonly<Record<Major, (polled: Polled) => JsonObject>> = {
  1: (polled) => ({
    runId: runIdOf[1](polled.run),
    events: eventsOf(1, polled),
    isComplete: polled.isComplete,
    lastEventSeq: polled.cursor,
    runStatus: polled.run.status,
    isTerminal: polled.isComplete,
  }),
  2: (polled) => ({
    runId: runIdOf[2](polled.run),
    events: eventsOf(2, polled),
    lastSequence: polled.run.lastSequence,
    status: polled.run.status,
    isTerminal: polled.isComplete,
  }),
};

function eventsOf(major: Major, { run, events }: Polled): Json[] {
  return events.map((event) => eventBody(major, run, event));
}
