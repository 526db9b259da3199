import type { ClaimedDelivery, ClaimedFor } from '../ports/deliveries.ts';

/** A claimed delivery whose attempt has not begun. */
export interface ReadyClaim {
  readonly delivery: ClaimedDelivery;
  /**
   * The latest time at which the attempt may begin, in ms of the clock of the store. A claim that waited longer could
   * expire during the attempt, and another host would send the same delivery.
   */
  readonly beginBy: number;
}

/**
 * Claims that wait for a place. Tenants take turns, and within a tenant its subscriptions: both go to the end of their
 * lines after a turn. So a tenant waits for at most one turn of each other tenant.
 */
export class TurnOrder {
  /** The waiting claims by tenant and subscription. The order of the maps is that of the turns. */
  readonly #lines = new Map<string, Map<string, ReadyClaim[]>>();
  readonly #countOf = new Map<string, number>();
  #size = 0;
  /** Lower bound of all `beginBy`, which spares a walk through the claims. */
  #firstBeginBy = Number.POSITIVE_INFINITY;

  get size(): number {
    return this.#size;
  }

  countOf(tenant: string): number {
    return this.#countOf.get(tenant) ?? 0;
  }

  add(claim: ReadyClaim): void {
    const { tenant, webhookId } = claim.delivery;
    const line = this.#lines.get(tenant) ?? new Map<string, ReadyClaim[]>();
    this.#lines.set(tenant, line);
    const waiting = line.get(webhookId) ?? [];
    line.set(webhookId, waiting);
    waiting.push(claim);
    this.#firstBeginBy = Math.min(this.#firstBeginBy, claim.beginBy);
    this.#count(tenant, 1);
  }

  /** Takes the claim that has the next turn, of those subscriptions that have room. */
  next(hasRoomFor: (subscription: ClaimedFor) => boolean): ReadyClaim | undefined {
    for (const [tenant, line] of this.#lines) {
      for (const [webhookId, [claim, ...others]] of line) {
        if (claim === undefined || !hasRoomFor({ tenant, webhookId })) continue;
        line.delete(webhookId);
        if (others.length > 0) line.set(webhookId, others);
        this.#lines.delete(tenant);
        if (line.size > 0) this.#lines.set(tenant, line);
        this.#count(tenant, -1);
        return claim;
      }
    }
    return undefined;
  }

  /** Removes the claims that fulfil a condition, and returns them. The others keep their places in line. */
  remove(isRemoved: (claim: ReadyClaim) => boolean): readonly ReadyClaim[] {
    const removed: ReadyClaim[] = [];
    for (const [tenant, line] of this.#lines) {
      for (const [webhookId, waiting] of line) {
        const gone = waiting.filter(isRemoved);
        if (gone.length === 0) continue;
        removed.push(...gone);
        this.#count(tenant, -gone.length);
        const staying = waiting.filter((claim) => !gone.includes(claim));
        if (staying.length === 0) line.delete(webhookId);
        else line.set(webhookId, staying);
      }
      if (line.size === 0) this.#lines.delete(tenant);
    }
    return removed;
  }

  /** Removes the claims whose `beginBy` is before `now`, and returns them. */
  removeLate(now: number): readonly ReadyClaim[] {
    if (now <= this.#firstBeginBy) return [];
    const late = this.remove(({ beginBy }) => now > beginBy);
    this.#firstBeginBy = this.all().reduce((first, { beginBy }) => Math.min(first, beginBy), Number.POSITIVE_INFINITY);
    return late;
  }

  /** Returns all waiting claims. */
  all(): readonly ReadyClaim[] {
    return [...this.#lines.values()].flatMap((line) => [...line.values()].flat());
  }

  #count(tenant: string, more: number): void {
    this.#size += more;
    const left = this.countOf(tenant) + more;
    if (left === 0) this.#countOf.delete(tenant);
    else this.#countOf.set(tenant, left);
  }
}
