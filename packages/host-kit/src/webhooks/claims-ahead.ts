import type { ClaimedDelivery, ClaimRequest } from '../ports/deliveries.ts';
import type { AttemptsUnderWay, Concurrency } from './attempts-under-way.ts';

/** A claimed delivery whose attempt has not begun. */
export interface ReadyClaim {
  readonly delivery: ClaimedDelivery;
  /**
   * The latest time at which the attempt may begin, in ms since the epoch. A claim that waited longer could expire
   * during the attempt, and another host would send the same delivery.
   */
  readonly beginBy: number;
}

/** A request for more claims, with the `beginBy` of each. */
export interface PlannedClaim {
  readonly request: ClaimRequest;
  readonly beginBy: number;
}

export interface ClaimState {
  readonly underWay: AttemptsUnderWay;
  readonly ready: readonly ReadyClaim[];
  readonly concurrency: Concurrency;
  readonly attemptTimeoutMs: number;
}

/**
 * Plans the next claim. It asks for twice as many deliveries as may be under way, in all and for each subscription,
 * less those already claimed, so that one query serves many attempts.
 *
 * @returns undefined when enough is claimed already
 */
export function planClaim(
  { underWay, ready, concurrency, attemptTimeoutMs }: ClaimState,
  now: number,
): PlannedClaim | undefined {
  const limit = CLAIMS_AHEAD * concurrency.total - underWay.size - ready.length;
  if (limit <= 0) return undefined;
  const held = underWay.countBySubscription();
  for (const { delivery } of ready) held.set(delivery.webhookId, (held.get(delivery.webhookId) ?? 0) + 1);
  const capacityOf = (webhookId: string) => CLAIMS_AHEAD * concurrency.perSubscription - (held.get(webhookId) ?? 0);
  const beginBy = now + MOST_AHEAD_MS;
  const leaseUntil = beginBy + attemptTimeoutMs + LEASE_MARGIN_MS;
  return { request: { now, leaseUntil, limit, capacityOf }, beginBy };
}

/**
 * Decides the next step of a claim: its attempt begins, or it waits for a slot, or it is released because it waited too
 * long. A claim that waits holds up no claim of another subscription.
 */
export function nextStep(
  { delivery, beginBy }: ReadyClaim,
  underWay: AttemptsUnderWay,
  now: number,
): 'begin' | 'wait' | 'release' {
  if (now > beginBy) return 'release';
  return underWay.hasRoomFor(delivery.webhookId) ? 'begin' : 'wait';
}

/** Claims per slot: one under way, and one ready to follow it. */
const CLAIMS_AHEAD = 2;
const MOST_AHEAD_MS = 5000;
const LEASE_MARGIN_MS = 10_000;
