/** The failed attempts at a subscription since its last success. Times are in ms since the epoch. */
export interface Outage {
  /** The first failed attempt. */
  readonly since: number;
  /** Number of failed attempts, counted up to the failure threshold of the circuit. */
  readonly failures: number;
  /** The operational events that have been sent about this outage. */
  readonly announced: readonly ('failing' | 'dead-lettering')[];
  /** The beginning of the pause of the subscription. Absent: it is not paused. */
  readonly pausedAt?: number;
  /** The length of the pauses that have ended, in ms. Absent: none has. */
  readonly pausedMs?: number;
}

/** Returns the outage of an active subscription that is paused. */
export function outagePaused(outage: Outage | undefined, now: number): Outage | undefined {
  return outage && { ...outage, pausedAt: now };
}

/** Returns the outage of a paused subscription that is resumed. An attempt from before a pause may have begun it within the pause. */
export function outageResumed(outage: Outage | undefined, now: number): Outage | undefined {
  if (outage === undefined) return undefined;
  const { pausedAt = outage.since, pausedMs = 0, ...rest } = outage;
  return { ...rest, pausedMs: pausedMs + Math.max(now - pausedAt, 0) };
}

/** Returns the length of an outage in ms, without the time in which the subscription was paused. */
export function outageLength({ since, pausedAt, pausedMs = 0 }: Outage, now: number): number {
  return (pausedAt ?? now) - since - pausedMs;
}
