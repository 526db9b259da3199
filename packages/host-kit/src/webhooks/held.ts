/**
 * Subscriptions whose deliveries wait because this host cannot sign them. They are in memory: another host, or the next
 * process, may have the key.
 */
export interface HeldSubscriptions {
  /**
   * Holds the deliveries of a subscription for 30 s.
   *
   * @param now in ms, on the clock of `isHeld`
   * @returns false when they are held already
   */
  hold(webhookId: string, now: number): boolean;
  /** Returns whether the deliveries of a subscription wait at `now`. */
  isHeld(webhookId: string, now: number): boolean;
  /** Returns the earliest end after `now`; undefined when nothing is held. */
  nextEnd(now: number): number | undefined;
}

export function heldSubscriptions(): HeldSubscriptions {
  const ends = new Map<string, number>();

  return {
    hold(webhookId, now) {
      if (isHeld(webhookId, now)) return false;
      // The order of the entries is that of their ends, because each is held for the same time.
      ends.delete(webhookId);
      ends.set(webhookId, now + HOLD_MS);
      return true;
    },
    isHeld,
    nextEnd(now) {
      for (const [webhookId, end] of ends) {
        if (end > now) return end;
        ends.delete(webhookId);
      }
      return undefined;
    },
  };

  function isHeld(webhookId: string, now: number): boolean {
    if (ends.size === 0) return false;
    const end = ends.get(webhookId);
    // The second bound ends a hold whose clock was set back.
    return end !== undefined && now < end && end <= now + HOLD_MS;
  }
}

/** Long enough that a lost key costs little work, short enough that a restored or rotated secret is used soon. */
const HOLD_MS = 30_000;
