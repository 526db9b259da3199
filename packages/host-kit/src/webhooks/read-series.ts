import type { Tenancy } from '@svc/auth';
import { yieldToLoop } from '../ports/clock.ts';
import { type SeriesPoint, type SeriesRange, sumOfCounts } from '../ports/delivery-series.ts';
import type { Store } from '../ports/store.ts';

/** The series of the subscriptions that a caller manages. */
export interface TenantSeries {
  readonly points: readonly SeriesPoint[];
  /** The number of subscriptions that it sums. */
  readonly subscriptions: number;
  /** False: the caller manages more subscriptions, which are left out. */
  readonly isComplete: boolean;
}

/**
 * Sums the series of the subscriptions that a caller manages, in the order of their ids. It looks at 120 000 minutes at
 * most: of 1000 subscriptions over two hours, or of 83 over a day.
 */
export async function tenantSeries(
  store: Pick<Store, 'subscriptions' | 'deliverySeries'>,
  tenancy: Tenancy,
  range: SeriesRange,
): Promise<TenantSeries> {
  const most = Math.min(MAX_SUBSCRIPTIONS, Math.floor(MOST_MINUTES / minutesOf(range)));
  const found = await store.subscriptions.list(tenancy, { after: '', limit: most + 1 });
  const webhookIds = found.slice(0, most).map(({ webhookId }) => webhookId);
  const points = await readSeries(store, webhookIds, range);
  return { points, subscriptions: webhookIds.length, isComplete: found.length <= most };
}

/** Reads the sum of the series of subscriptions, in parts: a store in this process answers without a pause. */
export async function readSeries(
  { deliverySeries }: Pick<Store, 'deliverySeries'>,
  webhookIds: readonly string[],
  range: SeriesRange,
): Promise<readonly SeriesPoint[]> {
  const points = new Map<number, SeriesPoint>();
  const atOnce = Math.max(1, Math.floor(MINUTES_AT_ONCE / minutesOf(range)));
  for (let start = 0; start < webhookIds.length; start += atOnce) {
    const part = webhookIds.slice(start, start + atOnce);
    for (const time of partsOf(range)) {
      for (const point of await deliverySeries.read(part, time)) {
        const known = points.get(point.at);
        points.set(point.at, known === undefined ? point : { at: point.at, ...sumOfCounts(known, point) });
      }
      await yieldToLoop();
    }
  }
  return [...points.values()].sort((a, b) => a.at - b.at);
}

/** Divides a range into parts of whole steps. */
function partsOf({ from, until, stepMs }: SeriesRange): readonly SeriesRange[] {
  const lengthMs = Math.max(1, Math.floor((MINUTES_AT_ONCE * MINUTE_MS) / stepMs)) * stepMs;
  const parts: SeriesRange[] = [];
  for (let start = from; start < until; start += lengthMs) {
    parts.push({ from: start, until: Math.min(start + lengthMs, until), stepMs });
  }
  return parts;
}

function minutesOf({ from, until }: SeriesRange): number {
  return (until - from) / MINUTE_MS;
}

const MINUTE_MS = 60_000;
const MAX_SUBSCRIPTIONS = 1000;
const MOST_MINUTES = 120_000;
const MINUTES_AT_ONCE = 5000;
