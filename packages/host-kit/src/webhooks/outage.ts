import { type Outage, outageLength } from '../ports/outage.ts';

/** When an outage is announced, and when it ends the subscription. */
export interface OutageRule {
  /** The number of failed attempts in a row after which the owner is told. */
  readonly failureThreshold: number;
  /** The length of an outage, in ms, after which a durable subscription fails. 0: never. */
  readonly failAfterMs: number;
}

/** A failed attempt, as far as an outage depends on it. */
export interface FailedAttempt {
  /** When it ended, in ms since the epoch. */
  readonly now: number;
  /** It was the last attempt: the delivery became a dead letter. */
  readonly isDeadLetter: boolean;
  /**
   * It was to deliver an operational event. Such a failure is announced to no one: two subscriptions that watch each
   * other would otherwise cause each other's events without end.
   */
  readonly isOperational: boolean;
}

/** Returns the outage after a failed attempt. */
export function outageAfter(outage: Outage | undefined, attempt: FailedAttempt, rule: OutageRule): Outage {
  const { failures: before = 0, announced = [], ...pauses } = outage ?? {};
  // A beginning later than now was recorded by another clock. It counts from now on.
  const since = Math.min(outage?.since ?? attempt.now, attempt.now);
  const failures = Math.min(before + 1, rule.failureThreshold);
  if (attempt.isOperational) return { ...pauses, since, failures, announced };
  const isFailing = failures >= rule.failureThreshold || announced.includes('failing');
  const isDeadLettering = attempt.isDeadLetter || announced.includes('dead-lettering');
  return {
    ...pauses,
    since,
    failures,
    announced: [
      ...(isFailing ? (['failing'] as const) : []),
      ...(isDeadLettering ? (['dead-lettering'] as const) : []),
    ],
  };
}

/** Returns whether a failed attempt changes an outage, so that its row has to be written. */
export function changesOutage(outage: Outage | undefined, attempt: FailedAttempt, rule: OutageRule): boolean {
  if (outage === undefined || outage.failures < rule.failureThreshold || isTooLong(outage, attempt.now, rule))
    return true;
  if (outage.since > attempt.now + INACCURACY_MS) return true;
  return outageAfter(outage, attempt, rule).announced.length !== outage.announced.length;
}

/** By so much two hosts may read the clock of their store differently. */
const INACCURACY_MS = 2000;

/** Returns whether an outage has lasted so long that the subscription fails. */
export function isTooLong(outage: Outage, now: number, { failAfterMs }: OutageRule): boolean {
  return failAfterMs > 0 && outageLength(outage, now) >= failAfterMs;
}
