import type { ClaimedFor, ClaimRequest, ClaimRoom } from '../ports/deliveries.ts';
import type { AttemptsUnderWay } from './attempts-under-way.ts';
import type { Concurrency } from './concurrency.ts';
import type { HeldSubscriptions } from './held.ts';
import type { Lanes } from './lanes.ts';
import { slowLane } from './places.ts';
import { SharedPlaces } from './shared-places.ts';
import type { TurnOrder } from './turn-order.ts';

/** A request for more claims, with the `beginBy` of each. */
export interface PlannedClaim {
  readonly request: ClaimRequest & { readonly room: RoomForClaims };
  readonly beginBy: number;
}

/** The claims that the host holds, and their limits. */
export interface ClaimState {
  readonly underWay: AttemptsUnderWay;
  readonly ready: TurnOrder;
  readonly lanes: Lanes;
  readonly concurrency: Concurrency;
  readonly attemptTimeoutMs: number;
  readonly held?: Pick<HeldSubscriptions, 'isHeld'> | undefined;
}

/**
 * Plans the next claim. It asks for twice as many deliveries as may be under way, in all and for each tenant and
 * subscription, less those already claimed, so that one query serves many attempts. Of slow subscriptions it asks for no
 * more than can begin. Deliveries that were handed over count for their subscription alone, so that however many there are,
 * those that wait in the queue have their turns.
 *
 * @returns undefined when enough is claimed already
 */
export function planClaim(state: ClaimState, now: number): PlannedClaim | undefined {
  const { underWay, ready, concurrency, attemptTimeoutMs } = state;
  const limit = CLAIMS_AHEAD * concurrency.total - underWay.size - ready.claimed;
  if (limit <= 0) return undefined;
  const leaseUntil = now + leaseMs(attemptTimeoutMs);
  return { request: { now, leaseUntil, limit, room: new RoomForClaims(state, now) }, beginBy: beginByOf(now) };
}

/**
 * Returns whether it is time to claim more, after an attempt of a tenant has ended: half of all claims are used up, or
 * half of those that the tenant may have now, or a quarter of the places was freed since the last claim. While many that were
 * handed over wait, and the tenant has all the places that it may have, it is time when a quarter as many attempts have ended.
 */
export function isClaimDue(
  { underWay, ready, concurrency: { total, perTenant } }: ClaimState,
  tenant: string,
  endedSinceClaim: number,
): boolean {
  const hasPlace = perTenant * (total - underWay.size) > underWay.countOf(tenant) * (total - perTenant);
  if (ready.handedOver >= total && !hasPlace) return endedSinceClaim >= ready.handedOver / 4;
  const held = underWay.size + ready.claimed;
  const own = underWay.countOf(tenant) + ready.claimedOf(tenant);
  const roomOfTenant = (perTenant * (CLAIMS_AHEAD * total - held) - own * (total - perTenant)) / total;
  return held <= total || own <= roomOfTenant || endedSinceClaim >= total / 4;
}

/** Returns the length of a claim, in ms: it outlives the wait for a place and the attempt. */
export function leaseMs(attemptTimeoutMs: number): number {
  return MOST_AHEAD_MS + attemptTimeoutMs + LEASE_MARGIN_MS;
}

/** Returns the latest time at which the attempt of a claim may begin. */
export function beginByOf(claimedAt: number): number {
  return claimedAt + MOST_AHEAD_MS;
}

/** The room that the claims of a host leave. */
export class RoomForClaims implements ClaimRoom {
  readonly #lanes: Lanes;
  readonly #ready: TurnOrder;
  readonly #perSubscription: number;
  readonly #all: SharedPlaces;
  readonly #slow: SharedPlaces;
  readonly #claimsOf = new Map<string, number>();
  readonly #isHeld: (webhookId: string) => boolean;
  readonly #shortTenants = new Set<string>();
  readonly #shortSubscriptions = new Map<string, ClaimedFor>();

  constructor({ underWay, ready, lanes, concurrency, held }: ClaimState, now: number) {
    const { total, perTenant, perSubscription } = concurrency;
    this.#lanes = lanes;
    this.#ready = ready;
    this.#isHeld = (webhookId) => held?.isHeld(webhookId, now) === true;
    this.#perSubscription = CLAIMS_AHEAD * perSubscription;
    this.#all = new SharedPlaces({ total: CLAIMS_AHEAD * total, perTenant: CLAIMS_AHEAD * perTenant });
    this.#slow = new SharedPlaces(slowLane(concurrency));
    for (const attempt of underWay) this.take(attempt);
    for (const { delivery, isHandedOver } of ready.all()) if (isHandedOver !== true) this.#takePlace(delivery);
  }

  /** The tenants that had no room, so that more of their deliveries may be due than were claimed. */
  get shortTenants(): Iterable<string> {
    return this.#shortTenants;
  }

  /** As `shortTenants`, of subscriptions. */
  get shortSubscriptions(): Iterable<ClaimedFor> {
    return this.#shortSubscriptions.values();
  }

  /** Returns whether any tenant or subscription had no room. */
  get wasShort(): boolean {
    return this.#shortTenants.size > 0 || this.#shortSubscriptions.size > 0;
  }

  hasRoomFor(tenant: string): boolean {
    const hasRoom = this.#all.hasRoomFor(tenant);
    if (!hasRoom) this.#shortTenants.add(tenant);
    return hasRoom;
  }

  capacityOf(subscription: ClaimedFor): number {
    const capacity = this.#capacityOf(subscription);
    if (capacity <= 0) this.#shortSubscriptions.set(subscription.webhookId, subscription);
    return capacity;
  }

  take(subscription: ClaimedFor): void {
    const { webhookId } = subscription;
    this.#takePlace(subscription);
    this.#claimsOf.set(webhookId, (this.#claimsOf.get(webhookId) ?? 0) + 1);
    if (this.#capacityOf(subscription) <= 0) this.#shortSubscriptions.set(webhookId, subscription);
  }

  #takePlace({ tenant, webhookId }: ClaimedFor): void {
    this.#all.take(tenant);
    if (this.#lanes.of(webhookId) === 'slow') this.#slow.take(tenant);
  }

  #capacityOf(subscription: ClaimedFor): number {
    const { tenant, webhookId } = subscription;
    if (this.#isHeld(webhookId)) return 0;
    const own = (this.#claimsOf.get(webhookId) ?? 0) + this.#ready.countIn(subscription);
    if (this.#lanes.of(webhookId) === 'regular') return this.#perSubscription - own;
    return this.#slow.hasRoomFor(tenant) ? 1 - own : 0;
  }
}

/** Claims per place: one under way, and one ready to follow it. */
const CLAIMS_AHEAD = 2;
const MOST_AHEAD_MS = 5000;
const LEASE_MARGIN_MS = 10_000;
