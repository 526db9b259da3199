import type { Major } from '@svc/versioning';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { EventPosition } from '../ports/events.ts';
import type { ReachedEvent } from '../streams/all-runs-reader.ts';
import { eventBody, runEvent } from './event.ts';
import { positionText } from './event-position.ts';

/** The schema of the response to a poll of the events of all runs. */
export const polledOfAllRuns: Readonly<Record<Major, z.ZodType>> = { 1: polledIn(1), 2: polledIn(2) };

function polledIn(major: Major): z.ZodType {
  return z
    .object({
      events: z.array(runEvent[major]),
      cursor: z.string().describe('The value of `after` for the next poll.'),
    })
    .meta({ id: 'PolledEventsOfAllRuns' });
}

export function polledBody(major: Major, events: readonly ReachedEvent[], cursor: EventPosition): JsonObject {
  return { events: events.map(({ run, event }) => eventBody(major, run, event)), cursor: positionText(cursor) };
}
