import type { ClaimedDelivery, ClaimedFor } from '../ports/deliveries.ts';

/** A claimed delivery whose attempt has not begun. */
export interface ReadyClaim {
  readonly delivery: ClaimedDelivery;
  /**
   * The latest time at which the attempt may begin, in ms of the clock of the store. A claim that waited longer could
   * expire during the attempt, and another host would send the same delivery.
   */
  readonly beginBy: number;
  /** The delivery was claimed when it was added to the queue. */
  readonly isHandedOver?: true;
}

/** The room for attempts. */
export interface RoomForAttempts {
  /** Returns false when no attempt at any subscription of the tenant may begin. */
  hasRoomForTenant(tenant: string): boolean;
  /** Returns whether an attempt at the subscription may begin now, when there is room for its tenant. */
  hasRoomFor(subscription: ClaimedFor): boolean;
}

/**
 * Claims that wait for a place. Tenants take turns, and within a tenant its subscriptions: both go to the end of their
 * lines after a turn. So a tenant waits for at most one turn of each other tenant.
 */
export class TurnOrder {
  /** The waiting claims by tenant and subscription. The order of the maps is that of the turns. */
  readonly #lines = new Map<string, Map<string, ReadyClaim[]>>();
  readonly #all = new Count();
  readonly #handedOver = new Count();
  #bytes = 0;
  /** Lower bound of all `beginBy`, which spares a walk through the claims. */
  #firstBeginBy = Number.POSITIVE_INFINITY;

  get size(): number {
    return this.#all.total;
  }

  /** The number of claims that a claim of the queue has returned: all but those that were handed over. */
  get claimed(): number {
    return this.#all.total - this.#handedOver.total;
  }

  /** The number of claims that were handed over. */
  get handedOver(): number {
    return this.#handedOver.total;
  }

  /** The bytes of all bodies. */
  get bytes(): number {
    return this.#bytes;
  }

  countOf(tenant: string): number {
    return this.#all.of(tenant);
  }

  /** As `claimed`, of one tenant. */
  claimedOf(tenant: string): number {
    return this.#all.of(tenant) - this.#handedOver.of(tenant);
  }

  /** Returns the number of claims of a subscription. */
  countIn({ tenant, webhookId }: ClaimedFor): number {
    return this.#lines.get(tenant)?.get(webhookId)?.length ?? 0;
  }

  add(claim: ReadyClaim): void {
    const { tenant, webhookId } = claim.delivery;
    const line = this.#lines.get(tenant) ?? new Map<string, ReadyClaim[]>();
    this.#lines.set(tenant, line);
    const waiting = line.get(webhookId) ?? [];
    line.set(webhookId, waiting);
    waiting.push(claim);
    this.#firstBeginBy = Math.min(this.#firstBeginBy, claim.beginBy);
    this.#count(claim, 1);
  }

  /** Takes the claim that has the next turn, of those subscriptions that have room. */
  next(room: RoomForAttempts): ReadyClaim | undefined {
    for (const [tenant, line] of this.#lines) {
      if (!room.hasRoomForTenant(tenant)) continue;
      for (const [webhookId, waiting] of line) {
        if (!room.hasRoomFor({ tenant, webhookId })) continue;
        const claim = waiting.shift();
        line.delete(webhookId);
        if (waiting.length > 0) line.set(webhookId, waiting);
        if (claim === undefined) continue;
        this.#lines.delete(tenant);
        if (line.size > 0) this.#lines.set(tenant, line);
        this.#count(claim, -1);
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
        const staying: ReadyClaim[] = [];
        for (const claim of waiting) (isRemoved(claim) ? removed : staying).push(claim);
        if (staying.length === 0) line.delete(webhookId);
        else line.set(webhookId, staying);
      }
      if (line.size === 0) this.#lines.delete(tenant);
    }
    for (const claim of removed) this.#count(claim, -1);
    return removed;
  }

  /** Removes the claims whose `beginBy` is before `now`, and returns them. */
  removeLate(now: number): readonly ReadyClaim[] {
    if (now <= this.#firstBeginBy) return [];
    const late = this.remove(({ beginBy }) => now > beginBy);
    this.#firstBeginBy = this.all().reduce((first, { beginBy }) => Math.min(first, beginBy), Number.POSITIVE_INFINITY);
    return late;
  }

  /** Lower bound of all `beginBy`; infinite when there are no claims. */
  get firstBeginBy(): number {
    return this.#firstBeginBy;
  }

  /** Returns all waiting claims. */
  all(): readonly ReadyClaim[] {
    return [...this.#lines.values()].flatMap((line) => [...line.values()].flat());
  }

  #count({ delivery, isHandedOver }: ReadyClaim, more: 1 | -1): void {
    this.#all.add(delivery.tenant, more);
    if (isHandedOver === true) this.#handedOver.add(delivery.tenant, more);
    this.#bytes += more * delivery.body.length;
    if (this.#all.total === 0) this.#firstBeginBy = Number.POSITIVE_INFINITY;
  }
}

/** Claims, counted by tenant. */
class Count {
  readonly #of = new Map<string, number>();
  total = 0;

  of(tenant: string): number {
    return this.#of.get(tenant) ?? 0;
  }

  add(tenant: string, more: 1 | -1): void {
    this.total += more;
    const left = this.of(tenant) + more;
    if (left === 0) this.#of.delete(tenant);
    else this.#of.set(tenant, left);
  }
}
