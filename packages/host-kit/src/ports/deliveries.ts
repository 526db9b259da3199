import type { Transaction } from './transaction.ts';

/**
 * One event on its way to one subscription. The body is fixed when the event is appended; each attempt signs it anew.
 */
export interface Delivery {
  /** Unique in the store. The receiver gets it and can use it to ignore a repeated delivery. */
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly runId: string;
  readonly eventId: string;
  /** `sequence` of the event in its run's log. */
  readonly sequence: number;
  /** Name of the event in the vocabulary of the subscription's major. Sent in the event-type header. */
  readonly eventType: string;
  /** The request body, byte for byte. */
  readonly body: Uint8Array;
  /** Number of attempts whose outcome was stored. */
  readonly attempts: number;
  /** Earliest time of the next attempt, in ms since the epoch. */
  readonly dueAt: number;
}

/** A delivery that is added to the outbox. */
export interface NewDelivery extends Delivery {
  /** End of the claim with which it is added, in ms since the epoch. Undefined: it is unclaimed. */
  readonly leaseUntil?: number | undefined;
}

/** A delivery that its claimant alone may attempt until `leaseUntil`. */
export interface ClaimedDelivery extends Delivery {
  /** The tenant of the subscription. Tenants take turns. */
  readonly tenant: string;
  /** End of the claim, in ms since the epoch. Also identifies the claim: a takeover always has a later `leaseUntil`. */
  readonly leaseUntil: number;
}

/** Identifies a claim. */
export type Claim = Pick<ClaimedDelivery, 'deliveryId' | 'webhookId' | 'leaseUntil'>;

/** A claim that ends without an attempt. */
export type ReleasedClaim = Claim & Pick<Delivery, 'dueAt'>;

/** A claim and the outcome that ends it. */
export interface EndedClaim {
  readonly claim: Claim;
  readonly settlement: Settlement;
}

/** The outcome of a claim. Times are in ms since the epoch; a store rounds fractions of `dueAt` up. */
export type Settlement =
  /** The receiver accepted it. The delivery is deleted. */
  | { readonly kind: 'delivered' }
  /** The attempt failed. The delivery waits until `dueAt`. */
  | {
      readonly kind: 'retry';
      readonly dueAt: number;
      /** Number of attempts so far. */
      readonly attempts: number;
      /** HTTP status of the last attempt. Undefined: it got no answer. */
      readonly lastStatus: number | undefined;
    }
  /** No attempt is left. The delivery becomes a dead letter, which is kept until `expiresAt`. */
  | {
      readonly kind: 'dead';
      readonly at: number;
      readonly expiresAt: number;
      /** Number of attempts so far. */
      readonly attempts: number;
      /** HTTP status of the last attempt. Undefined: it got no answer. */
      readonly lastStatus: number | undefined;
    }
  /** Best effort: its one attempt was made, or the circuit was open. The delivery is deleted. */
  | { readonly kind: 'dropped' };

/** The last dead letter of a page. The next page begins after it. */
export type DeadLetterCursor = Pick<DeadLetter, 'deadLetteredAt' | 'deliveryId'>;

/** Maximum number of dead letters in one page of the operator's list. */
export const DEAD_LETTERS_PER_PAGE = 200;

/** A delivery without attempts left, as operators see it: without its body. Times are in ms since the epoch. */
export interface DeadLetter {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly runId: string;
  readonly eventId: string;
  readonly eventType: string;
  /** Number of attempts that were made. */
  readonly attempts: number;
  readonly deadLetteredAt: number;
  /** From this time on it is hidden, and `sweep` deletes it. */
  readonly expiresAt: number;
  /** HTTP status of the last attempt. Undefined: it got no answer. */
  readonly lastStatus: number | undefined;
}

/** Selects dead letters. A member that is undefined selects all of them. */
export interface DeadLetterSelection {
  /** Names of events in the major of the subscription. */
  readonly eventTypes: readonly string[] | undefined;
  /** Last HTTP statuses. 0: there was no answer. */
  readonly statuses: readonly number[] | undefined;
  /** The lowest id of a selected delivery. Ids compare by their bytes. */
  readonly fromId: string | undefined;
  /** The id that every id of a selected delivery is below. */
  readonly belowId: string | undefined;
}

/** Arguments of `DeliveryQueue.countDeadLetters`. */
export interface DeadLetterCounting {
  readonly before: DeadLetterCursor | undefined;
  /** The time in ms since the epoch: dead letters that have expired by then do not count. */
  readonly now: number;
  /** The most dead letters that are looked at. */
  readonly limit: number;
  /** The dead letters that are counted among them. */
  readonly selection: DeadLetterSelection;
  /** Length of a step of time, in ms. Steps count from the epoch. */
  readonly stepMs: number;
}

/** The dead letters of one event type, status and step of time. */
export interface DeadLetterCount {
  readonly eventType: string;
  /** The last HTTP status. 0: there was no answer. */
  readonly status: number;
  /** Start of the step of their `deadLetteredAt`, in ms since the epoch. */
  readonly at: number;
  /** At least 1. */
  readonly count: number;
}

/** The result of `DeliveryQueue.countDeadLetters`. */
export interface CountedDeadLetters {
  /** In any order. */
  readonly counts: readonly DeadLetterCount[];
  /** The number of dead letters that were looked at. */
  readonly lookedAt: number;
  /** The last one that was looked at. Undefined: there are no more. */
  readonly last: DeadLetterCursor | undefined;
}

/** A delivery in the outbox, without its body. Times are in ms since the epoch. */
export type QueuedDelivery = Omit<Delivery, 'body' | 'dueAt'> & {
  /** HTTP status of the last attempt. Undefined: there was none, or it got no answer. */
  readonly lastStatus: number | undefined;
} & (
    | {
        readonly state: 'waiting';
        /** Earliest time of the next attempt, or the end of the claim. */
        readonly dueAt: number;
      }
    | { readonly state: 'dead'; readonly deadLetteredAt: number; readonly expiresAt: number }
  );

/** A waiting delivery in a list. The next page begins after its `position`. */
export type WaitingDelivery = Extract<QueuedDelivery, { readonly state: 'waiting' }> & { readonly position: number };

/** The last waiting delivery of a page. */
export type WaitingCursor = Pick<WaitingDelivery, 'dueAt' | 'position'>;

/**
 * The outbox. `enqueue` writes a delivery in the transaction of its event; the dispatcher claims, attempts and settles
 * it. A delivery leaves the outbox by a settlement, by `sweep`, or with its subscription, and in no other way.
 *
 * Methods that read, redrive or transfer dead letters leave out those whose `expiresAt` is at or before `now`: a dead
 * letter is gone when it expires, and not only when `sweep` deletes it.
 */
export interface DeliveryQueue {
  /**
   * Adds deliveries. One with a `leaseUntil` is claimed from the commit on, as if a claim had returned it: its claimant
   * settles or releases it, or it is taken over.
   */
  enqueue(deliveries: readonly NewDelivery[], transaction: Transaction): Promise<void>;
  /**
   * Adds deliveries of events that may have been delivered before. One that is waiting stays as it is. A dead letter
   * becomes due at its `dueAt`, with no attempts counted. Any other is added.
   *
   * @returns the number of deliveries that were added or revived
   */
  enqueueAgain(deliveries: readonly Delivery[], transaction: Transaction): Promise<number>;
  /** Returns those of the deliveries that are in the outbox at `now`, in any order. */
  queued(webhookId: string, deliveryIds: readonly string[], now: number): Promise<readonly QueuedDelivery[]>;
  /**
   * Returns up to `limit` waiting deliveries of one subscription by their due times, after the cursor. A store may
   * leave out those that are claimed.
   */
  waiting(
    webhookId: string,
    page: { readonly after?: WaitingCursor | undefined; readonly limit: number },
  ): Promise<readonly WaitingDelivery[]>;
  /**
   * Claims due deliveries of subscriptions that are not paused, and returns them. Claims that have run out are taken
   * over. Tenants take turns, one delivery each; within a tenant, subscriptions take turns; within a subscription, the
   * earliest due comes first. The next claim goes on with the tenant after the last one, and with its next subscription.
   * So neither a long backlog nor a large number of subscriptions of one tenant delays another tenant.
   */
  claim(request: ClaimRequest): Promise<readonly ClaimedDelivery[]>;
  /**
   * Ends claims with their settlements, in order.
   *
   * @returns for each claim true if it was still held. False: nothing happened, because it was taken over or its
   *   subscription was removed.
   */
  settle(ended: readonly EndedClaim[], transaction: Transaction): Promise<readonly boolean[]>;
  /**
   * Ends those of the claims that are still held, without an attempt. Their deliveries are due at their `dueAt` again, and at
   * `now` at the latest: the clock may have been set back since the claim.
   */
  release(claims: readonly ReleasedClaim[], now: number): Promise<void>;
  /**
   * Returns the earliest time after `now` at which a delivery becomes due or a claim runs out, or a time before it;
   * undefined when there is none. Deliveries that are due already do not count: they wait for capacity or for a paused subscription, and the
   * host claims again when that changes.
   */
  nextDueAfter(now: number): Promise<number | undefined>;
  /**
   * Brings forward times that lie further ahead than any wait: a clock that was ahead stored them. Waiting deliveries
   * with a later `dueAt` become due at `dueBy`. Claims that end more than ten minutes after `leaseUntil` end at
   * `leaseUntil`; the margin keeps the claims of hosts with longer attempts. Dead letters stay as they are.
   *
   * A store may leave a delivery to a later call while an earlier due one of the same subscription waits.
   */
  limitWaits(limits: WaitLimits): Promise<void>;
  /**
   * Returns up to `limit` dead letters of one subscription, newest first, after the cursor `before`. Equal times sort
   * by id, descending.
   */
  deadLetters(
    webhookId: string,
    page: { readonly before?: DeadLetterCursor | undefined; readonly limit: number; readonly now: number },
  ): Promise<readonly DeadLetter[]>;
  /**
   * Counts the next `limit` dead letters of one subscription, newest first, after the cursor `before`. Trusts its caller to
   * have found the subscription through `subscriptions`.
   */
  countDeadLetters(webhookId: string, counting: DeadLetterCounting): Promise<CountedDeadLetters>;
  /**
   * Makes up to `limit` dead letters of a subscription due at `now`, with no attempts counted, and returns how many.
   * Dead letters from after `before` up to `now` are left out: a caller that redrives in steps would otherwise meet those
   * that have failed again since its first step. Those from after `now` are redriven: a clock that was ahead stored them.
   */
  redrive(
    request: {
      readonly webhookId: string;
      /** Ids to redrive; others are ignored. Undefined: all. */
      readonly deliveryIds: readonly string[] | undefined;
      readonly before: number;
      readonly now: number;
      readonly limit: number;
    },
    transaction: Transaction,
  ): Promise<number>;
  /**
   * Moves up to `limit` dead letters of a subscription to another one, where they are due at `now` with no attempts
   * counted, and returns how many. They keep their ids. Dead letters are left out as by `redrive`.
   */
  transfer(
    request: {
      readonly from: string;
      readonly to: string;
      readonly before: number;
      readonly now: number;
      readonly limit: number;
    },
    transaction: Transaction,
  ): Promise<number>;
  /**
   * Deletes up to `limit` records: dead letters whose `expiresAt` is at or before `now`, and remains of removed
   * subscriptions. Returns how many it deleted.
   */
  sweep(now: number, limit: number): Promise<number>;
}

/** Arguments of `DeliveryQueue.limitWaits`, in ms since the epoch. */
export interface WaitLimits {
  /** No delivery waits longer. */
  readonly dueBy: number;
  /** The end of a claim that is made now. */
  readonly leaseUntil: number;
}

/** A claim that ends by so many ms later than one that is made now was stamped by another clock. */
export const LEASE_EXCESS_MS = 600_000;

/** Arguments of `DeliveryQueue.claim`. Times are in ms since the epoch. */
export interface ClaimRequest {
  /** Deliveries with a `dueAt` at or before this time are due. */
  readonly now: number;
  /** End of the claims. A delivery that is neither settled nor released by then can be claimed again. */
  readonly leaseUntil: number;
  /** Maximum number of deliveries over all tenants. */
  readonly limit: number;
  /** The room of each tenant and subscription. */
  readonly room: ClaimRoom;
}

/** A subscription, with the tenant that it takes turns for. */
export type ClaimedFor = Pick<ClaimedDelivery, 'tenant' | 'webhookId'>;

/**
 * The room for the deliveries of one claim. A store asks for it before each delivery, and counts the delivery with
 * `take`.
 */
export interface ClaimRoom {
  /** Returns whether another delivery of the tenant may be claimed. */
  hasRoomFor(tenant: string): boolean;
  /** Returns how many more deliveries of the subscription may be claimed; 0 or less for none. */
  capacityOf(subscription: ClaimedFor): number;
  /** Counts a delivery that is claimed. */
  take(subscription: ClaimedFor): void;
}
