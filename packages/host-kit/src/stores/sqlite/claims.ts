import type { Claim } from '../../ports/deliveries.ts';

/**
 * The claimed deliveries. They are in memory alone: one process uses the database, so its claims end with it, and a
 * claim costs no write.
 */
export interface Claims {
  add(claim: HeldClaim): void;
  /** Returns the claim if it is still held. */
  held(claim: Claim): HeldClaim | undefined;
  isClaimed(position: number): boolean;
  /** Returns the positions of all claimed deliveries. */
  positions(): readonly number[];
  /** Returns the number of claims on deliveries of a subscription. */
  countOf(webhookId: string): number;
  /** Ends a claim. Nothing happens when it is no longer held. */
  end(claim: Claim): void;
  /** Ends all claims of a removed subscription. SQLite may give the positions of its deliveries to new ones. */
  endAllOf(webhookId: string): void;
  /** Ends the claims whose `leaseUntil` is at or before `now`, and returns them. */
  expire(now: number): readonly HeldClaim[];
  /** Returns the earliest `leaseUntil` after `now`. */
  nextAfter(now: number): number | undefined;
}

/** A claim and the row that it is on. */
export interface HeldClaim extends Claim {
  /** Primary key of the delivery's row. */
  readonly position: number;
}

export function claims(): Claims {
  const byDelivery = new Map<string, HeldClaim>();
  const positions = new Set<number>();
  const counts = new Map<string, number>();

  return {
    add(claim) {
      byDelivery.set(claim.deliveryId, claim);
      positions.add(claim.position);
      counts.set(claim.webhookId, (counts.get(claim.webhookId) ?? 0) + 1);
    },
    held,
    isClaimed: (position) => positions.has(position),
    positions: () => [...positions],
    countOf: (webhookId) => counts.get(webhookId) ?? 0,
    end(claim) {
      const current = held(claim);
      if (current !== undefined) drop(current);
    },
    endAllOf(webhookId) {
      for (const claim of [...byDelivery.values()]) if (claim.webhookId === webhookId) drop(claim);
    },
    expire(now) {
      const expired = [...byDelivery.values()].filter(({ leaseUntil }) => leaseUntil <= now);
      for (const claim of expired) drop(claim);
      return expired;
    },
    nextAfter(now) {
      const ends = [...byDelivery.values()]
        .map(({ leaseUntil }) => leaseUntil)
        .filter((leaseUntil) => leaseUntil > now);
      return ends.length === 0 ? undefined : Math.min(...ends);
    },
  };

  function held({ deliveryId, leaseUntil }: Claim): HeldClaim | undefined {
    const claim = byDelivery.get(deliveryId);
    return claim?.leaseUntil === leaseUntil ? claim : undefined;
  }

  function drop({ deliveryId, position, webhookId }: HeldClaim): void {
    byDelivery.delete(deliveryId);
    positions.delete(position);
    const count = (counts.get(webhookId) ?? 1) - 1;
    if (count === 0) counts.delete(webhookId);
    else counts.set(webhookId, count);
  }
}
