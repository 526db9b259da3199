/**
 * The subscriptions that may have a due delivery, in the order of their turns. The list can have too many, which a look
 * at the table corrects, but never too few: every delivery that begins to wait is announced here after its commit.
 */
export interface Turns {
  /** Announces a delivery of a subscription that is due at `dueAt`. */
  waits(webhookId: string, dueAt: number): void;
  /** Returns the subscriptions with a delivery due at `now`, the one whose last turn is longest ago first. */
  due(now: number): readonly string[];
  /** Ends the turn of a subscription that may have more due deliveries: it goes to the end of the line. */
  served(webhookId: string): void;
  /**
   * Ends the turn of a subscription without more due deliveries. Its next one is due at `nextDue`; undefined: it has
   * none.
   */
  rests(webhookId: string, nextDue: number | undefined): void;
  /** Takes a paused subscription out of the line until `resumed`. */
  paused(webhookId: string): void;
  /** Puts a subscription back into the line, if `paused` took it out. */
  resumed(webhookId: string): void;
  /** Returns the earliest time after `now` at which a subscription's next delivery becomes due. */
  nextAfter(now: number): number | undefined;
}

export function turns(): Turns {
  /** Subscriptions with a due delivery, in the order of their turns. */
  const ready = new Set<string>();
  /** The earliest known due time of the other subscriptions. */
  const later = new Map<string, number>();
  const waitingToResume = new Set<string>();
  /** Lower bound of the times in `later`, which spares a walk through them. */
  let earliest = Number.POSITIVE_INFINITY;

  return {
    waits,
    due(now) {
      if (earliest <= now) arrive(now);
      return [...ready];
    },
    served(webhookId) {
      ready.delete(webhookId);
      ready.add(webhookId);
    },
    rests(webhookId, nextDue) {
      ready.delete(webhookId);
      if (nextDue !== undefined) waits(webhookId, nextDue);
    },
    paused(webhookId) {
      ready.delete(webhookId);
      waitingToResume.add(webhookId);
    },
    resumed(webhookId) {
      if (waitingToResume.delete(webhookId)) ready.add(webhookId);
    },
    nextAfter(now) {
      let first: number | undefined;
      for (const dueAt of later.values()) if (dueAt > now && dueAt < (first ?? Number.POSITIVE_INFINITY)) first = dueAt;
      return first;
    },
  };

  function waits(webhookId: string, dueAt: number): void {
    if (ready.has(webhookId) || waitingToResume.has(webhookId)) return;
    if (dueAt < (later.get(webhookId) ?? Number.POSITIVE_INFINITY)) later.set(webhookId, dueAt);
    earliest = Math.min(earliest, dueAt);
  }

  /** Moves subscriptions whose time has come from `later` to `ready`. */
  function arrive(now: number): void {
    earliest = Number.POSITIVE_INFINITY;
    for (const [webhookId, dueAt] of later) {
      if (dueAt > now) earliest = Math.min(earliest, dueAt);
      else {
        later.delete(webhookId);
        ready.add(webhookId);
      }
    }
  }
}
