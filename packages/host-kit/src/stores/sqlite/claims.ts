import type { Claim } from '../../ports/deliveries.ts';

/** What this process, the only one, has claimed. A claim needs no row: whoever it belongs to ends with it. */
export interface Claims {
  add(claim: HeldClaim): void;
  /** The claim, if it still stands. */
  standing(claim: Claim): HeldClaim | undefined;
  isClaimed(position: number): boolean;
  positions(): readonly number[];
  heldOf(webhookId: string): number;
  /** Ends a claim; nothing happens when another one has taken its place. */
  end(claim: Claim): void;
  /** Ends all of a subscription that is removed: where its deliveries were, others may be from now on. */
  endAllOf(webhookId: string): void;
  /** Ends those that ran out by `now`, and returns them. */
  expire(now: number): readonly HeldClaim[];
  /** The first time after `now` at which one runs out. */
  nextAfter(now: number): number | undefined;
}

export interface HeldClaim extends Claim {
  readonly position: number;
}

export function claims(): Claims {
  const held = new Map<string, HeldClaim>();
  const positions = new Set<number>();
  const counts = new Map<string, number>();

  return {
    add(claim) {
      held.set(claim.deliveryId, claim);
      positions.add(claim.position);
      counts.set(claim.webhookId, (counts.get(claim.webhookId) ?? 0) + 1);
    },
    standing,
    isClaimed: (position) => positions.has(position),
    positions: () => [...positions],
    heldOf: (webhookId) => counts.get(webhookId) ?? 0,
    end(claim) {
      const standingClaim = standing(claim);
      if (standingClaim !== undefined) drop(standingClaim);
    },
    endAllOf(webhookId) {
      for (const claim of [...held.values()]) if (claim.webhookId === webhookId) drop(claim);
    },
    expire(now) {
      const expired = [...held.values()].filter(({ leaseUntil }) => leaseUntil <= now);
      for (const claim of expired) drop(claim);
      return expired;
    },
    nextAfter(now) {
      const ends = [...held.values()].map(({ leaseUntil }) => leaseUntil).filter((leaseUntil) => leaseUntil > now);
      return ends.length === 0 ? undefined : Math.min(...ends);
    },
  };

  function standing({ deliveryId, leaseUntil }: Claim): HeldClaim | undefined {
    const claim = held.get(deliveryId);
    return claim?.leaseUntil === leaseUntil ? claim : undefined;
  }

  function drop({ deliveryId, position, webhookId }: HeldClaim): void {
    held.delete(deliveryId);
    positions.delete(position);
    const count = (counts.get(webhookId) ?? 1) - 1;
    if (count === 0) counts.delete(webhookId);
    else counts.set(webhookId, count);
  }
}
