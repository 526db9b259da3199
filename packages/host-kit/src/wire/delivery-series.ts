import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import { LATENCY_BOUNDS_MS, type SeriesPoint, type SeriesRange } from '../ports/delivery-series.ts';

const TIME = z.iso.datetime();
const COUNT = z.int().min(0);

const POINT = z
  .object({
    at: TIME.describe('The start of the step, in UTC.'),
    delivered: COUNT.describe('Attempts that were answered with a 2xx.'),
    failed: COUNT.describe('Attempts that failed.'),
    deadLettered: COUNT.describe('Deliveries that became dead letters.'),
    skipped: COUNT.describe('Deliveries that ended without an attempt.'),
    durationMs: z.number().min(0).describe('The sum of the durations of the attempts.'),
    latency: z
      .array(COUNT)
      .length(LATENCY_BOUNDS_MS.length + 1)
      .describe('Attempts by duration: up to each of `latencyBoundsMs`, then those that took longer.'),
  })
  .meta({ id: 'DeliverySeriesPoint' });

const SERIES = {
  from: TIME.describe('The start of the first step.'),
  to: TIME.describe('The end of the last step.'),
  step: z.int().describe('The length of a step, in seconds.'),
  latencyBoundsMs: z.array(z.int()),
  points: z.array(POINT).describe('The steps in which anything was counted.'),
};

/** The schema of the series of a subscription. */
export const deliverySeries: z.ZodType = z.object(SERIES).meta({ id: 'DeliverySeries' });

/** The schema of the series of all subscriptions of a caller. */
export const tenantDeliverySeries: z.ZodType = z
  .object({
    ...SERIES,
    subscriptions: COUNT.describe('The subscriptions that the series sums.'),
    isComplete: z.boolean().describe('False: the caller manages more subscriptions than the series sums.'),
  })
  .meta({ id: 'TenantDeliverySeries' });

/** A series for the owner of its subscriptions. */
export function seriesView({ from, until, stepMs }: SeriesRange, points: readonly SeriesPoint[]): JsonObject {
  return {
    from: timeText(from),
    to: timeText(until),
    step: stepMs / 1000,
    latencyBoundsMs: [...LATENCY_BOUNDS_MS],
    points: points.map(({ at, latency, ...counts }) => ({ at: timeText(at), ...counts, latency: [...latency] })),
  };
}

function timeText(time: number): string {
  return new Date(time).toISOString();
}
