/**
 * Which subscriptions may have a delivery that is due, and whose turn is next. It may know of more than there is, which a look at the table
 * corrects, and never of less: whatever waits, or waits again, is noted here when it is committed.
 */
export interface Turns {
  /** Something waits for a subscription from `dueAt` on. */
  waits(webhookId: string, dueAt: number): void;
  /** Those whose time has come by `now`, beginning with the one whose last turn is longest ago. */
  due(now: number): readonly string[];
  /** It had its turn, and may have more that is due. */
  served(webhookId: string): void;
  /** Nothing of it is due; what is next is so at `nextDue`. */
  rests(webhookId: string, nextDue: number | undefined): void;
  /** It has no turn until it is resumed. */
  paused(webhookId: string): void;
  resumed(webhookId: string): void;
  /** The first time after `now` at which one comes to be due. */
  nextAfter(now: number): number | undefined;
}

export function turns(): Turns {
  /** In the order of their turns. */
  const ready = new Set<string>();
  const later = new Map<string, number>();
  const waitingToResume = new Set<string>();
  /** No time in `later` is before it. */
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
