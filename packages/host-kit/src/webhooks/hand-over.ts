import type { ClaimedDelivery, ClaimedFor, Delivery } from '../ports/deliveries.ts';
import type { RunEvent } from '../ports/events.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import type { Transaction } from '../ports/transaction.ts';
import { beginByOf, type ClaimState, leaseMs, type RoomForClaims } from './claims-ahead.ts';
import type { ReadyClaim } from './turn-order.ts';

/**
 * Claims new deliveries for the host that adds them to the queue, in the same transaction. It attempts them from memory: no
 * claim has to find, change and read them.
 */
export interface HandOver {
  /**
   * Claims a delivery that a transaction adds.
   *
   * @param delivery its `dueAt` is the present
   * @returns the end of the claim, in ms since the epoch; undefined when the delivery is to wait in the queue
   */
  claim(delivery: Delivery, subscription: Subscription, transaction: Transaction): number | undefined;
  /** Announces that a transaction is committed: what it has claimed is held. */
  committed(transaction: Transaction): void;
  /** Announces that a transaction has failed, perhaps after its commit: what it has claimed is due when the claims end. */
  failed(transaction: Transaction): void;
  /** Announces a committed event. The attempts of its deliveries begin. */
  appended(event: Pick<RunEvent, 'eventId'>): void;
}

export interface HandOverOptions {
  readonly state: ClaimState;
  /** Returns whether the host attempts deliveries now. */
  readonly isRunning: () => boolean;
  /** Called with the claims on the deliveries of a committed event. */
  readonly begin: (claims: readonly ReadyClaim[]) => void;
  /** Called when claims may end that no attempt settles. */
  readonly wake: () => void;
  /** Called with the subscriptions of the deliveries that a committed transaction has left to the queue. */
  readonly left: (subscriptions: readonly ClaimedFor[]) => void;
}

/**
 * Hands new deliveries over as long as memory holds no more than a host attempts within a few seconds. Others wait in the
 * queue, and so do all further ones of the same subscription until a claim has found no more of it there: the order of its
 * deliveries stays.
 */
export class BoundedHandOver implements HandOver {
  readonly #options: HandOverOptions;
  readonly #open = new WeakMap<Transaction, OpenHandOver>();
  /** The claims of committed events that were not announced yet, by event. */
  readonly #held = new Map<string, ReadyClaim[]>();
  /** Subscriptions that may have due deliveries in the queue. */
  readonly #subscriptions = new Map<string, ClaimedFor>();
  /** Tenants whose subscriptions may have due deliveries in the queue. */
  readonly #tenants = new Set<string>();
  /** False while subscriptions may have due deliveries in the queue of which nothing is known. */
  #isQueueKnown = false;
  /** The subscriptions of which deliveries were left to the queue since a claim began, which may not have seen them. */
  readonly #leftSince = new Set<string>();
  /** As `#leftSince`, of subscriptions that were too many to remember. */
  #hasLeftOthersSince = false;

  constructor(options: HandOverOptions) {
    this.#options = options;
  }

  claim(delivery: Delivery, subscription: Subscription, transaction: Transaction): number | undefined {
    const open = this.#opened(transaction);
    const { webhookId, dueAt } = delivery;
    const { tenant, status } = subscription;
    if (!this.#isFree(subscription, delivery, open)) {
      const left = { tenant, webhookId };
      if (status === 'paused') return undefined;
      open.left.set(webhookId, left);
      this.#note(left);
      return undefined;
    }
    const leaseUntil = dueAt + leaseMs(this.#options.state.attemptTimeoutMs);
    const claimed: ClaimedDelivery = { ...delivery, tenant, leaseUntil };
    open.claims.push({ delivery: claimed, beginBy: beginByOf(dueAt), isHandedOver: true });
    open.countIn.set(webhookId, (open.countIn.get(webhookId) ?? 0) + 1);
    open.countOf.set(tenant, (open.countOf.get(tenant) ?? 0) + 1);
    open.bytes += delivery.body.length;
    return leaseUntil;
  }

  committed(transaction: Transaction): void {
    const open = this.#open.get(transaction);
    if (open === undefined) return;
    this.#open.delete(transaction);
    for (const claim of open.claims) {
      const { eventId } = claim.delivery;
      const held = this.#held.get(eventId);
      if (held === undefined) this.#held.set(eventId, [claim]);
      else held.push(claim);
    }
    if (open.left.size === 0) return;
    const left = [...open.left.values()];
    // Again: a claim that began before the commit has not seen them.
    for (const each of left) this.#note(each);
    this.#options.left(left);
  }

  failed(transaction: Transaction): void {
    const open = this.#open.get(transaction);
    this.#open.delete(transaction);
    if (open === undefined) return;
    for (const each of open.left.values()) this.#note(each);
    if (open.claims.length > 0) this.#options.wake();
  }

  appended({ eventId }: Pick<RunEvent, 'eventId'>): void {
    const claims = this.#held.get(eventId);
    if (claims === undefined) return;
    this.#held.delete(eventId);
    this.#options.begin(claims);
  }

  /** Notes that a claim of the queue begins. */
  claimBegins(): void {
    this.#leftSince.clear();
    this.#hasLeftOthersSince = false;
  }

  /**
   * Notes what the claim of the queue has found.
   *
   * @param isWhole the claim has returned every due delivery for which there was room
   */
  claimed(isWhole: boolean, room: RoomForClaims): void {
    this.#isQueueKnown = isWhole && !this.#hasLeftOthersSince;
    if (isWhole) {
      for (const tenant of this.#tenants) if (room.hasRoomFor(tenant)) this.#tenants.delete(tenant);
      for (const each of this.#subscriptions.values()) {
        const { webhookId } = each;
        if (!this.#leftSince.has(webhookId) && room.capacityOf(each) > 0) this.#subscriptions.delete(webhookId);
      }
    }
    for (const tenant of room.shortTenants) this.#tenants.add(tenant);
    for (const each of room.shortSubscriptions) this.#subscriptions.set(each.webhookId, each);
  }

  /** Notes that the queue may have due deliveries of a subscription. */
  #note(left: ClaimedFor): void {
    const { webhookId } = left;
    if (this.#subscriptions.size < MOST_QUEUED || this.#subscriptions.has(webhookId)) {
      this.#subscriptions.set(webhookId, left);
      this.#leftSince.add(webhookId);
    } else {
      this.#isQueueKnown = false;
      this.#hasLeftOthersSince = true;
    }
  }

  #opened(transaction: Transaction): OpenHandOver {
    const known = this.#open.get(transaction);
    if (known !== undefined) return known;
    const open: OpenHandOver = { claims: [], countIn: new Map(), countOf: new Map(), left: new Map(), bytes: 0 };
    this.#open.set(transaction, open);
    return open;
  }

  #isFree(subscription: Subscription, delivery: Delivery, open: OpenHandOver): boolean {
    const { tenant, webhookId, status } = subscription;
    const { ready, lanes, held } = this.#options.state;
    return (
      this.#options.isRunning() &&
      this.#isQueueKnown &&
      !this.#subscriptions.has(webhookId) &&
      !this.#tenants.has(tenant) &&
      status === 'active' &&
      lanes.of(webhookId) === 'regular' &&
      held?.isHeld(webhookId, delivery.dueAt) !== true &&
      ready.countIn({ tenant, webhookId }) + (open.countIn.get(webhookId) ?? 0) < MOST_OF_ONE &&
      ready.countOf(tenant) + (open.countOf.get(tenant) ?? 0) < 3 * (MOST - ready.size - open.claims.length) &&
      ready.bytes + open.bytes + delivery.body.length <= MOST_BYTES
    );
  }
}

/** The claims of a transaction that is not committed. */
interface OpenHandOver {
  readonly claims: ReadyClaim[];
  /** By subscription. */
  readonly countIn: Map<string, number>;
  /** By tenant. */
  readonly countOf: Map<string, number>;
  /** The subscriptions of the deliveries that were left to the queue, by id. */
  readonly left: Map<string, ClaimedFor>;
  bytes: number;
}

/**
 * Bounds of what a host that dies leaves to the others only when its claims end, and of the memory. A tenant alone has three
 * quarters of them; the more tenants there are, the fewer each has, as with the places of attempts.
 */
const MOST = 8192;
const MOST_OF_ONE = 256;
const MOST_BYTES = 16 * 1024 * 1024;
/** Bounds the memory. With more subscriptions in the queue nothing is handed over. */
const MOST_QUEUED = 10_000;
