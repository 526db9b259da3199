import type { Claim } from '../../ports/deliveries.ts';
import type { WaitingRow } from './waiting-deliveries.ts';

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
  /** Ends all claims of a removed subscription. */
  endAllOf(webhookId: string): void;
  /** Ends the claims whose `leaseUntil` is at or before `now`, and returns them. */
  expire(now: number): readonly HeldClaim[];
  /** Returns the earliest `leaseUntil` after `now`. */
  nextAfter(now: number): number | undefined;
}

/** A claim and the row that it is on. */
export interface HeldClaim extends Claim {
  readonly row: WaitingRow;
}

export function claims(): Claims {
  const byDelivery = new Map<string, HeldClaim>();
  const positions = new Set<number>();
  const counts = new Map<string, number>();
  /** Lower bound of all `leaseUntil`, which spares a walk through them. */
  let earliest = Number.POSITIVE_INFINITY;

  return {
    add(claim) {
      byDelivery.set(claim.deliveryId, claim);
      positions.add(claim.row.position);
      counts.set(claim.webhookId, (counts.get(claim.webhookId) ?? 0) + 1);
      earliest = Math.min(earliest, claim.leaseUntil);
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
      if (!counts.has(webhookId)) return;
      for (const claim of [...byDelivery.values()]) if (claim.webhookId === webhookId) drop(claim);
    },
    expire(now) {
      if (earliest > now) return [];
      earliest = Number.POSITIVE_INFINITY;
      const expired: HeldClaim[] = [];
      for (const claim of byDelivery.values()) {
        if (claim.leaseUntil <= now) expired.push(claim);
        else earliest = Math.min(earliest, claim.leaseUntil);
      }
      for (const claim of expired) drop(claim);
      return expired;
    },
    nextAfter(now) {
      let first: number | undefined;
      for (const { leaseUntil } of byDelivery.values()) {
        if (leaseUntil > now && leaseUntil < (first ?? Number.POSITIVE_INFINITY)) first = leaseUntil;
      }
      return first;
    },
  };

  function held({ deliveryId, leaseUntil }: Claim): HeldClaim | undefined {
    const claim = byDelivery.get(deliveryId);
    return claim?.leaseUntil === leaseUntil ? claim : undefined;
  }

  function drop({ deliveryId, row, webhookId }: HeldClaim): void {
    byDelivery.delete(deliveryId);
    positions.delete(row.position);
    const count = (counts.get(webhookId) ?? 1) - 1;
    if (count === 0) counts.delete(webhookId);
    else counts.set(webhookId, count);
  }
}
