import type { Transaction } from './transaction.ts';

/** Counts of attempts and deliveries of subscriptions in some time. */
export interface DeliveryCounts {
  /** Attempts that the receiver answered with a 2xx. */
  readonly delivered: number;
  /** Attempts that failed: another answer, no answer, or a URL that the policy rejected. */
  readonly failed: number;
  /** Deliveries that became dead letters. */
  readonly deadLettered: number;
  /** Deliveries that ended without an attempt: the circuit was open, or the subscription had failed. */
  readonly skipped: number;
  /** Sum of the durations of the attempts, in ms, to the microsecond. */
  readonly durationMs: number;
  /**
   * The attempts by their duration: an entry for each bound of `LATENCY_BOUNDS_MS`, with those of at most that duration
   * and more than the bound before it, and a last entry with those of more than the last bound. The sum of the entries is
   * the number of attempts.
   */
  readonly latency: readonly number[];
}

/** Upper bounds of the durations that `DeliveryCounts.latency` counts, in ms. */
export const LATENCY_BOUNDS_MS: readonly number[] = [10, 30, 100, 300, 1000, 3000, 10_000];

/** The counts of one subscription in one minute. */
export interface DeliveryMinute extends DeliveryCounts {
  readonly webhookId: string;
  /** Start of the minute, in ms since the epoch. */
  readonly minute: number;
}

/** The counts of one step of a series. */
export interface SeriesPoint extends DeliveryCounts {
  /** Start of the step, in ms since the epoch. */
  readonly at: number;
}

/** A part of a series. Times are in ms since the epoch, and whole minutes. */
export interface SeriesRange {
  /** Start of the first step. */
  readonly from: number;
  /** End of the last step. It is excluded. */
  readonly until: number;
  /** Length of a step, in ms: whole minutes. */
  readonly stepMs: number;
}

/** The attempts and the ended deliveries of each subscription, counted by minute. */
export interface DeliverySeries {
  /**
   * Adds the counts to those that are stored for the same subscription and minute. A subscription and a minute occur in
   * `minutes` once at the most, in the order of their subscriptions and minutes.
   */
  add(minutes: readonly DeliveryMinute[], transaction: Transaction): Promise<void>;
  /**
   * Returns the counts of the subscriptions, summed over all of them and over each step, in the order of time. Steps
   * without a stored minute are left out. Trusts its caller to have found the subscriptions through `subscriptions`.
   */
  read(webhookIds: readonly string[], range: SeriesRange): Promise<readonly SeriesPoint[]>;
  /**
   * Deletes up to `limit` minutes that began before a time, and returns how many. The minutes of removed subscriptions are
   * deleted in no other way.
   *
   * @param before in ms since the epoch
   */
  sweep(before: number, limit: number): Promise<number>;
}

/**
 * Adds two counts, such as those of two subscriptions in the same time. For stores of your own.
 *
 * @example
 * import { type DeliveryCounts, sumOfCounts } from '@svc/host-kit/ports';
 *
 * const one: DeliveryCounts = {
 *   ...{ delivered: 1, failed: 0, deadLettered: 0, skipped: 0, durationMs: 7 },
 *   latency: [1, 0, 0, 0, 0, 0, 0, 0],
 * };
 * console.log(sumOfCounts(one, one).delivered); // 2
 */
export function sumOfCounts(a: DeliveryCounts, b: DeliveryCounts): DeliveryCounts {
  return {
    delivered: a.delivered + b.delivered,
    failed: a.failed + b.failed,
    deadLettered: a.deadLettered + b.deadLettered,
    skipped: a.skipped + b.skipped,
    durationMs: Math.round((a.durationMs + b.durationMs) * 1000) / 1000,
    latency: a.latency.map((attempts, bucket) => attempts + (b.latency[bucket] ?? 0)),
  };
}
