import type { Major } from '@svc/versioning';
import { z } from 'zod';
import type { Json, JsonObject } from '../json.ts';
import type { Polled } from '../streams/poll.ts';
import { eventBody, runEvent, runIdOf } from './event.ts';
import { runStatus } from './run.ts';
import { runId } from './schemas.ts';

/** The query parameters for the last sequence that a caller has. The first one in the request counts. */
export const CURSOR_PARAMETERS: Readonly<Record<Major, { readonly names: readonly string[]; readonly min: number }>> = {
  // Older clients send -1 when they have no event yet.
  1: { names: ['lastSequence', 'since'], min: -1 },
  2: { names: ['afterSequence'], min: 0 },
};

/** The schema of the response to a poll: open in major 1, closed in major 2. */
export const polledPage: Readonly<Record<Major, z.ZodType>> = {
  1: z
    .object({
      runId: runId[1],
      events: z.array(runEvent[1]),
      isComplete: z.boolean().describe('Whether the run has ended and its log has no events after these.'),
      lastEventSeq: z.int().min(-1).describe('The value of `lastSequence` for the next poll.'),
      runStatus,
      isTerminal: z.boolean().describe('The same as `isComplete`.'),
    })
    .meta({ id: 'PolledEvents' }),
  2: z
    .strictObject({
      runId: runId[2],
      events: z.array(runEvent[2]),
      lastSequence: z.int().min(-1).describe('The highest sequence in the log; -1 while it is empty.'),
      status: runStatus,
      isTerminal: z.boolean().describe('Whether the run has ended and its log has no events after these.'),
    })
    .meta({ id: 'PolledEvents' }),
};

/** The response to a poll. Major 1 repeats some facts under several names, for clients of different versions. */
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
