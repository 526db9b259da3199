import { invalid } from '../errors.ts';
import { json } from '../http/description.ts';
import { type MountRoute, mountRoute } from '../http/route.ts';
import type { Clock } from '../ports/clock.ts';
import type { SeriesRange } from '../ports/delivery-series.ts';
import type { Store } from '../ports/store.ts';
import { managed } from '../webhooks/operator-actions.ts';
import { readSeries, tenantSeries } from '../webhooks/read-series.ts';
import { LONGEST_TENANT_RANGE_MS, seriesRange } from '../webhooks/series-range.ts';
import { deliverySeries, seriesView, tenantDeliverySeries } from '../wire/delivery-series.ts';
import { ADDRESS_ERRORS, ADDRESSED, idIn, ok, PRIVATE, QUERY_TIME, STEP, stepIn, timeIn } from './owned-webhook.ts';

export interface DeliverySeriesRoutesOptions {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  /** The time for which minutes are kept, in ms. */
  readonly keptMs: number;
}

/**
 * The routes `/host/<org>/webhooks/series` and `/host/<org>/webhooks/{webhookId}/series`: attempts and ended deliveries
 * by time, of all subscriptions that the caller manages and of one.
 */
export function deliverySeriesRoutes({ store, clock, keptMs }: DeliverySeriesRoutesOptions): MountRoute[] {
  const scope = 'webhooks:manage';
  return [
    mountRoute({
      method: 'GET',
      path: '/webhooks/series',
      scope,
      describes: {
        operationId: 'readTenantDeliverySeries',
        summary: 'Read the series of all subscriptions',
        description:
          'Attempts and ended deliveries, counted by time. The range is a day at most. The first subscriptions by id are summed: ' +
          '1000 over two hours, 83 over a day.',
        query: RANGE,
        answers: { 200: json('The series.', tenantDeliverySeries, PRIVATE) },
      },
      async serve({ principal, query }) {
        const range = rangeIn(query, clock.now(), Math.min(LONGEST_TENANT_RANGE_MS, keptMs));
        const { points, subscriptions, isComplete } = await tenantSeries(store, principal.tenancy, range);
        return ok({ ...seriesView(range, points), subscriptions, isComplete });
      },
    }),
    mountRoute({
      method: 'GET',
      path: '/webhooks/{webhookId}/series',
      scope,
      describes: {
        operationId: 'readDeliverySeries',
        summary: 'Read the series of a subscription',
        description: 'Its attempts and ended deliveries, counted by time. Minutes are kept for seven days by default.',
        path: ADDRESSED,
        query: RANGE,
        answers: { 200: json('The series.', deliverySeries, PRIVATE) },
        errors: ADDRESS_ERRORS,
      },
      async serve(call) {
        const { webhookId } = await managed(store, call.principal, idIn(call));
        const range = rangeIn(call.query, clock.now(), keptMs);
        return ok(seriesView(range, await readSeries(store, [webhookId], range)));
      },
    }),
  ];
}

const RANGE = {
  from: QUERY_TIME.optional().describe('The start. Default: an hour before `to`.'),
  to: QUERY_TIME.optional().describe('The end. Default: now.'),
  step: STEP.optional().describe(
    'The length of a step in seconds, a multiple of 60. A series has at most 1440 steps. Default: the shortest of a ' +
      'minute, 5 and 15 minutes, 1 and 6 hours and a day that makes at most 360.',
  ),
};

function rangeIn(query: URLSearchParams, now: number, longestMs: number): SeriesRange {
  const asked = { from: timeIn(query, 'from'), until: timeIn(query, 'to'), stepMs: stepIn(query) };
  const range = seriesRange(asked, now, longestMs);
  if ('problem' in range) throw invalid({ field: `query.${range.parameter}`, problem: range.problem });
  return range;
}
