import type { LetterFacets, Series } from '../data/shapes.ts';
import { spanText } from './spans.ts';

/** One step of a chart. */
export interface ChartStep {
  /** Its start, in ms since the epoch. */
  readonly at: number;
  /** The count above the axis. */
  readonly up: number;
  /** The count below the axis. */
  readonly down: number;
  /** The counts in words. */
  readonly text: string;
}

/** Returns every step of a series, also those in which nothing was counted. */
export function seriesSteps(series: Series): readonly ChartStep[] {
  const counts = new Map(series.points.map((point) => [Date.parse(point.at), point]));
  return timesBetween(Date.parse(series.from), Date.parse(series.to), series.step * 1000).map((at) => {
    const { delivered = 0, failed = 0, deadLettered = 0, skipped = 0 } = counts.get(at) ?? {};
    const others = [
      ...(deadLettered > 0 ? [`${deadLettered.toLocaleString('en')} became dead letters`] : []),
      ...(skipped > 0 ? [`${skipped.toLocaleString('en')} skipped`] : []),
    ];
    const text = [`${delivered.toLocaleString('en')} delivered`, `${failed.toLocaleString('en')} failed`, ...others];
    return { at, up: delivered, down: failed, text: text.join(', ') };
  });
}

/** Returns every step of the times of dead letters, from the first one to now, and 24 steps at least. */
export function letterSteps({ step, times }: LetterFacets, now: number): readonly ChartStep[] {
  const stepMs = step * 1000;
  const counts = new Map(times.map(({ at, count }) => [Date.parse(at), count]));
  const ordered = [...counts.keys()].sort((a, b) => a - b);
  const to = Math.max(Math.floor(now / stepMs) * stepMs, ordered.at(-1) ?? 0) + stepMs;
  return timesBetween(Math.min(to - 24 * stepMs, ordered[0] ?? to), to, stepMs).map((at) => {
    const up = counts.get(at) ?? 0;
    return { at, up, down: 0, text: `${up.toLocaleString('en')} became dead letters` };
  });
}

/** A host that answers with a range of its own choice must not make the page build a million rows. */
const MOST_STEPS = 1500;
const YEAR_0 = Date.UTC(-1, 12);
const YEAR_10000 = Date.UTC(10_000, 0);

function timesBetween(from: number, to: number, stepMs: number): number[] {
  const count = Math.min(MOST_STEPS, Math.ceil((to - from) / stepMs));
  // A time beyond these years cannot be written.
  if (!(stepMs >= 1000 && to > from && to < YEAR_10000 && to - count * stepMs >= YEAR_0)) return [];
  return Array.from({ length: count }, (_, index) => to - (count - index) * stepMs);
}

/** Says the sums of a series and how long its attempts took. */
export function seriesSentence(series: Series): string {
  const sum = (read: (point: Series['points'][number]) => number) =>
    series.points.reduce((total, point) => total + read(point), 0);
  const [delivered, failed] = [sum((point) => point.delivered), sum((point) => point.failed)];
  if (delivered + failed === 0) return 'No attempt was made in this time.';
  const half = quantile(series, 0.5);
  const most = quantile(series, 0.99);
  const times = half === '' ? '' : ` Half of the attempts took ${half}, and 99 % took ${most}.`;
  return `${delivered.toLocaleString('en')} attempts delivered, ${failed.toLocaleString('en')} failed.${times}`;
}

/** The bound below which a part of the attempts stayed. The buckets know no more. */
function quantile({ points, latencyBoundsMs }: Series, part: number): string {
  const sums = [...latencyBoundsMs, 0].map((_, bucket) =>
    points.reduce((sum, { latency }) => sum + (latency[bucket] ?? 0), 0),
  );
  const all = sums.reduce((sum, count) => sum + count, 0);
  if (all === 0) return '';
  let seen = 0;
  const bucket = sums.findIndex((count) => {
    seen += count;
    return seen >= part * all;
  });
  const bound = latencyBoundsMs[bucket];
  return bound === undefined ? `more than ${spanText(latencyBoundsMs.at(-1) ?? 0)}` : `at most ${spanText(bound)}`;
}

/** A time of a chart: in UTC, so that two people who look at it mean the same. */
export function stepTime(at: number, spanMs: number): string {
  const text = new Date(at).toISOString();
  return spanMs > 23 * 3_600_000 ? `${text.slice(5, 10)} ${text.slice(11, 16)}` : text.slice(11, 16);
}
