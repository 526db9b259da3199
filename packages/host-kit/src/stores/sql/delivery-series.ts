import { type DeliveryMinute, LATENCY_BOUNDS_MS, type SeriesPoint } from '../../ports/delivery-series.ts';
import { integer, type Row } from './row.ts';

const LATENCY = [...LATENCY_BOUNDS_MS, Number.POSITIVE_INFINITY].map((_, bucket) => `latency_${bucket}`);

/** The columns of `delivery_minutes` that are counts. */
export const COUNTS: readonly string[] = ['delivered', 'failed', 'dead_lettered', 'skipped', 'duration_us', ...LATENCY];

/** Returns the values of `COUNTS`. */
export function countColumns({ delivered, failed, deadLettered, skipped, durationMs, latency }: DeliveryMinute) {
  return [delivered, failed, deadLettered, skipped, Math.round(durationMs * 1000), ...latency];
}

/** Reads the sums of `COUNTS` in one step, whose number is `step`. */
export function pointOf(row: Row, { from, stepMs }: { readonly from: number; readonly stepMs: number }): SeriesPoint {
  return {
    at: from + integer(row, 'step') * stepMs,
    delivered: integer(row, 'delivered'),
    failed: integer(row, 'failed'),
    deadLettered: integer(row, 'dead_lettered'),
    skipped: integer(row, 'skipped'),
    durationMs: integer(row, 'duration_us') / 1000,
    latency: LATENCY.map((column) => integer(row, column)),
  };
}
