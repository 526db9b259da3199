import type { AttemptRecord } from '../ports/attempts.ts';
import type { Settlement } from '../ports/deliveries.ts';
import { type DeliveryMinute, LATENCY_BOUNDS_MS } from '../ports/delivery-series.ts';

/** The end of a delivery or of one attempt, as far as it is counted. */
export interface CountedEnd {
  readonly attempt: AttemptRecord;
  /** Undefined: nothing was settled with the attempt. */
  readonly settlement: Settlement | undefined;
}

/**
 * Counts ended attempts by subscription and minute. The result is in the order of the subscriptions and minutes: two
 * transactions that add to the same minutes of a store would otherwise deadlock.
 */
export function deliveryMinutes(ended: readonly CountedEnd[]): readonly DeliveryMinute[] {
  const minutes = new Map<string, Counted>();
  for (const end of ended) {
    const { webhookId, at } = end.attempt;
    const minute = minuteOf(at);
    const key = `${webhookId} ${minute}`;
    const counted = minutes.get(key) ?? { webhookId, minute, ...noCounts() };
    minutes.set(key, counted);
    count(counted, end);
  }
  return [...minutes.values()].sort(inOrder);
}

/** Returns the start of the minute of a time. Both are in ms since the epoch. */
export function minuteOf(time: number): number {
  return Math.floor(time / MINUTE_MS) * MINUTE_MS;
}

const MINUTE_MS = 60_000;

type Counted = { -readonly [Name in keyof Omit<DeliveryMinute, 'latency'>]: DeliveryMinute[Name] } & {
  readonly latency: number[];
};

function noCounts() {
  const latency = new Array<number>(LATENCY_BOUNDS_MS.length + 1).fill(0);
  return { delivered: 0, failed: 0, deadLettered: 0, skipped: 0, durationMs: 0, latency };
}

function count(counted: Counted, { attempt: { outcome, durationMs }, settlement }: CountedEnd): void {
  if (settlement?.kind === 'dead') counted.deadLettered += 1;
  if (outcome === 'skipped') {
    counted.skipped += 1;
    return;
  }
  if (outcome === 'delivered') counted.delivered += 1;
  // A denied URL counts like any failure, here and in the histogram: a difference would let a tenant map the network.
  else counted.failed += 1;
  const bucket = bucketOf(durationMs);
  counted.latency[bucket] = (counted.latency[bucket] ?? 0) + 1;
  counted.durationMs += durationMs;
}

function bucketOf(durationMs: number): number {
  const index = LATENCY_BOUNDS_MS.findIndex((bound) => durationMs <= bound);
  return index === -1 ? LATENCY_BOUNDS_MS.length : index;
}

function inOrder(a: DeliveryMinute, b: DeliveryMinute): number {
  if (a.webhookId === b.webhookId) return a.minute - b.minute;
  return a.webhookId < b.webhookId ? -1 : 1;
}
