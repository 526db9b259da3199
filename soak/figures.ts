import type { Evidence } from './evidence.ts';
import { caseOf, isSuccess } from './rules/case.ts';

/** Counts and times of a soak. */
export interface Figures {
  readonly runs: number;
  readonly events: number;
  /** The requests that receivers got. */
  readonly requests: number;
  /** The deliveries to durable subscriptions that a receiver accepted. */
  readonly accepted: number;
  /** Those of them that a receiver accepted more than once. */
  readonly duplicates: number;
  readonly deadLetters: number;
  /** The number of starts of a host, and the times until it took requests, in ms. */
  readonly boots: { readonly count: number; readonly medianMs: number; readonly longestMs: number };
  /** The number of disturbances of each kind. */
  readonly disturbances: Readonly<Record<string, number>>;
  /** The sums of what the disturbances of disks have done, by name. */
  readonly effects: Readonly<Record<string, number>>;
}

export const NO_FIGURES: Figures = {
  runs: 0,
  events: 0,
  requests: 0,
  accepted: 0,
  duplicates: 0,
  deadLetters: 0,
  boots: { count: 0, medianMs: 0, longestMs: 0 },
  disturbances: {},
  effects: {},
};

/** Returns the figures of a soak. */
export function figuresOf(evidence: Evidence): Figures {
  const { runs, received, deadLetters, disturbances, bootMs } = evidence;
  const durable = caseOf(evidence).passages.filter(({ subscription }) => subscription.durable);
  const successes = durable.map((passage) => passage.received.filter(isSuccess).length);
  return {
    runs: runs.length,
    events: runs.reduce((sum, { log }) => sum + log.length, 0),
    requests: received.length,
    accepted: successes.filter((count) => count > 0).length,
    duplicates: successes.filter((count) => count > 1).length,
    deadLetters: deadLetters.length,
    boots: { count: bootMs.length, medianMs: medianOf(bootMs), longestMs: Math.max(0, ...bootMs) },
    disturbances: counted(disturbances.map(({ kind }) => kind)),
    effects: summed(disturbances.flatMap(({ effects = {} }) => Object.entries(effects))),
  };
}

/** Counts equal names. */
export function counted(names: readonly string[]): Readonly<Record<string, number>> {
  return summed(names.map((name) => [name, 1]));
}

function summed(counts: readonly (readonly [name: string, count: number])[]): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const [name, count] of counts) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
