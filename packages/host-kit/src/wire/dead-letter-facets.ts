import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { DeadLetterFacets } from '../webhooks/dead-letter-facets.ts';

const COUNT = z.int().min(0);

const FACETS = {
  matching: COUNT.describe('The dead letters that the filter selects.'),
  lookedAt: COUNT,
  isComplete: z.boolean().describe('False: only the newest dead letters were counted.'),
  eventTypes: z.array(z.object({ type: z.string(), count: COUNT })),
  statuses: z.array(z.object({ status: z.int().describe('0: there was no answer.'), count: COUNT })),
  step: z.int().describe('The length of a step of `times`, in seconds.'),
  times: z
    .array(z.object({ at: z.iso.datetime().describe('The start of the step, in UTC.'), count: COUNT }))
    .describe('By the time at which they became dead letters. Steps without any are left out.'),
};

/** The schema of the facets of one subscription. */
export const deadLetterFacets: z.ZodType = z.object(FACETS).meta({ id: 'DeadLetterFacets' });

/** The schema of the facets of all subscriptions of a caller. */
export const tenantDeadLetterFacets: z.ZodType = z
  .object({ ...FACETS, subscriptions: z.array(z.object({ webhookId: z.string(), count: COUNT })) })
  .meta({ id: 'TenantDeadLetterFacets' });

/** The facets of dead letters for the owner of the subscriptions. Each list begins with the largest count. */
export function facetsView(facets: DeadLetterFacets, stepMs: number): JsonObject {
  const { matching, lookedAt, isComplete, eventTypes, statuses, times } = facets;
  return {
    matching,
    lookedAt,
    isComplete,
    eventTypes: eventTypes.map(({ value, count }) => ({ type: value, count })),
    statuses: statuses.map(({ value, count }) => ({ status: value, count })),
    step: stepMs / 1000,
    times: times.map(({ value, count }) => ({ at: new Date(value).toISOString(), count })),
  };
}
