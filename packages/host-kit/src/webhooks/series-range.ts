import type { SeriesRange } from '../ports/delivery-series.ts';

/** The part of a series that a caller asks for. Times are in ms since the epoch; undefined: the default. */
export interface AskedRange {
  readonly from: number | undefined;
  readonly until: number | undefined;
  readonly stepMs: number | undefined;
}

/** A range that is not served, with the name of the query parameter at fault. */
export interface RangeProblem {
  readonly parameter: 'from' | 'to' | 'step';
  readonly problem: string;
}

/** The most points of a series: a day of minutes. */
export const MOST_POINTS = 1440;

/** The longest range of the series of a tenant, in ms: each subscription has its own minutes. */
export const LONGEST_TENANT_RANGE_MS = 86_400_000;

/**
 * Applies the defaults: the hour until now, in the shortest step that makes at most 360 points. Both ends are moved
 * outwards to whole steps since the epoch, so that a repeated read has the same steps.
 *
 * @param longestMs the longest range that may be asked for, in ms
 */
export function seriesRange(asked: AskedRange, now: number, longestMs: number): SeriesRange | RangeProblem {
  const until = asked.until ?? now;
  const from = asked.from ?? until - DEFAULT_RANGE_MS;
  if (from >= until) return { parameter: 'from', problem: 'must be before `to`' };
  if (until - from > longestMs + SLACK_MS) {
    return { parameter: 'from', problem: `must be at most ${longestMs / HOUR_MS} hours before \`to\`` };
  }
  const stepMs = asked.stepMs ?? defaultStep(until - from);
  const range = { from: Math.floor(from / stepMs) * stepMs, until: Math.ceil(until / stepMs) * stepMs, stepMs };
  if ((range.until - range.from - SLACK_MS) / stepMs <= MOST_POINTS + 1) return range;
  return { parameter: 'step', problem: `must be longer: the range has more than ${MOST_POINTS} steps` };
}

function defaultStep(rangeMs: number): number {
  return STEPS.find((stepMs) => rangeMs / stepMs <= DEFAULT_POINTS) ?? DAY_MS;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DEFAULT_RANGE_MS = HOUR_MS;
/** The clock of a caller that asks for the last day may be a little behind. */
const SLACK_MS = 5 * MINUTE_MS;
const DEFAULT_POINTS = 360;
const DAY_MS = 24 * HOUR_MS;
const STEPS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS];
