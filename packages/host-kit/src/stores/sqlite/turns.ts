/**
 * The subscriptions that may have a due delivery, in the order of their turns. The list can have too many, which a look
 * at the table corrects, but never too few: every delivery that begins to wait is announced here after its commit.
 */
export interface Turns {
  /** Announces a delivery of a subscription that is due at `dueAt`. */
  waits(webhookId: string, dueAt: number): void;
  /**
   * Returns the tenants that have a delivery due at `now`, the one whose last turn is longest ago first. Their
   * subscriptions are in the same order. Do not change the turns while you walk through them.
   */
  due(now: number): readonly TenantWithDue[];
  /** Notes a turn of a subscription and of its tenant: both go to the end of their lines. */
  served(webhookId: string): void;
  /**
   * Takes a subscription without more due deliveries out of the line. Its next one is due at `nextDue`; undefined: it
   * has none.
   */
  rests(webhookId: string, nextDue: number | undefined): void;
  /** Takes a paused subscription out of the line until `resumed`. */
  paused(webhookId: string): void;
  /** Puts a subscription back into the line, if `paused` took it out. */
  resumed(webhookId: string): void;
  /** Returns the subscriptions whose next delivery is due after `time`. */
  waitingPast(time: number): readonly string[];
  /** Returns the earliest time after `now` at which a subscription's next delivery becomes due. */
  nextAfter(now: number): number | undefined;
}

/** A tenant with the ids of its subscriptions that have a due delivery. */
export interface TenantWithDue {
  readonly tenant: string;
  readonly webhookIds: Iterable<string>;
}

/** @param tenantOf returns the tenant of a subscription; undefined when it was removed */
export function turns(tenantOf: (webhookId: string) => string | undefined): Turns {
  const ready = new Line();
  /** The earliest known due time of the other subscriptions. */
  const later = new Map<string, number>();
  const waitingToResume = new Set<string>();
  /** Lower bound of the times in `later`, which spares a walk through them. */
  let earliest = Number.POSITIVE_INFINITY;

  return {
    waits,
    due(now) {
      if (earliest <= now) arrive(now);
      return ready.tenants();
    },
    served: (webhookId) => ready.toEnd(webhookId),
    rests(webhookId, nextDue) {
      ready.leave(webhookId);
      if (nextDue !== undefined) waits(webhookId, nextDue);
    },
    paused(webhookId) {
      ready.leave(webhookId);
      waitingToResume.add(webhookId);
    },
    resumed(webhookId) {
      if (waitingToResume.delete(webhookId)) waits(webhookId, 0);
    },
    waitingPast: (time) => [...later].flatMap(([webhookId, dueAt]) => (dueAt > time ? [webhookId] : [])),
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
      if (dueAt > now) {
        earliest = Math.min(earliest, dueAt);
        continue;
      }
      later.delete(webhookId);
      const tenant = tenantOf(webhookId);
      if (tenant !== undefined) ready.join(webhookId, tenant);
    }
  }
}

/** Tenants in the order of their turns, and the subscriptions of each in the order of theirs. */
class Line {
  readonly #idsOf = new Map<string, Set<string>>();
  readonly #tenantOf = new Map<string, string>();

  has(webhookId: string): boolean {
    return this.#tenantOf.has(webhookId);
  }

  tenants(): readonly TenantWithDue[] {
    return [...this.#idsOf].map(([tenant, webhookIds]) => ({ tenant, webhookIds }));
  }

  join(webhookId: string, tenant: string): void {
    const ids = this.#idsOf.get(tenant) ?? new Set();
    this.#idsOf.set(tenant, ids.add(webhookId));
    this.#tenantOf.set(webhookId, tenant);
  }

  leave(webhookId: string): void {
    const tenant = this.#tenantOf.get(webhookId);
    if (tenant === undefined) return;
    this.#tenantOf.delete(webhookId);
    const ids = this.#idsOf.get(tenant);
    ids?.delete(webhookId);
    if (ids?.size === 0) this.#idsOf.delete(tenant);
  }

  toEnd(webhookId: string): void {
    const tenant = this.#tenantOf.get(webhookId);
    const ids = tenant === undefined ? undefined : this.#idsOf.get(tenant);
    if (tenant === undefined || ids === undefined) return;
    ids.delete(webhookId);
    ids.add(webhookId);
    this.#idsOf.delete(tenant);
    this.#idsOf.set(tenant, ids);
  }
}
