import type { Transaction } from './transaction.ts';

/** One event on its way to one subscription. The body is fixed when the event is appended; each attempt signs it afresh. */
export interface Delivery {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly runId: string;
  readonly eventId: string;
  readonly sequence: number;
  /** As the subscription's major spells it, and as the event-type header says it. */
  readonly eventType: string;
  readonly body: Uint8Array;
  /** Attempts with a known outcome. */
  readonly attempts: number;
  /** When the next attempt may start, in ms. */
  readonly dueAt: number;
}

/** A delivery that its claimant may attempt, until the claim runs out and somebody else takes it over. */
export interface ClaimedDelivery extends Delivery {
  /** In ms. It tells claims apart: whoever takes one over has it for longer than whoever had it before. */
  readonly leaseUntil: number;
}

/** What names a claim. */
export type Claim = Pick<ClaimedDelivery, 'deliveryId' | 'webhookId' | 'leaseUntil'>;

/** A claim, and how it ends. */
export interface EndedClaim {
  readonly claim: Claim;
  readonly settlement: Settlement;
}

/** Where an attempt leaves its delivery. */
export type Settlement =
  | { readonly kind: 'delivered' }
  | {
      readonly kind: 'retry';
      readonly dueAt: number;
      readonly attempts: number;
      readonly lastStatus: number | undefined;
    }
  | {
      readonly kind: 'dead';
      readonly at: number;
      readonly expiresAt: number;
      readonly attempts: number;
      readonly lastStatus: number | undefined;
    }
  /** Best effort: one attempt was made, or the circuit let none through. */
  | { readonly kind: 'dropped' };

/** A dead letter to go on after. */
export type DeadLetterCursor = Pick<DeadLetter, 'deadLetteredAt' | 'deliveryId'>;

/** As many dead letters as one page has at the most. */
export const DEAD_LETTERS_PER_PAGE = 200;

/** A delivery that ran out of attempts: what an operator may see of it, never its body. */
export interface DeadLetter {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly runId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly attempts: number;
  readonly deadLetteredAt: number;
  readonly expiresAt: number;
  readonly lastStatus: number | undefined;
}

/** The outbox: what `append` wrote and the dispatcher works off. Nothing leaves it but by a settlement or with its subscription. */
export interface DeliveryQueue {
  enqueue(deliveries: readonly Delivery[], transaction: Transaction): Promise<void>;
  /** Takes due deliveries of subscriptions that are not paused, in turn across them, so that a long backlog of one does not hold up another's first. */
  claim(request: ClaimRequest): Promise<readonly ClaimedDelivery[]>;
  /**
   * Ends claims, in their order.
   *
   * @returns of each whether it still stood; otherwise nothing happened, because it was taken over, or went with its subscription
   */
  settle(ended: readonly EndedClaim[], transaction: Transaction): Promise<readonly boolean[]>;
  /** Hands back those claims that still stand, unattempted. */
  release(claims: readonly Claim[]): Promise<void>;
  /**
   * The next time after `now` at which a delivery becomes due or a claim runs out. What is due already and was not claimed waits
   * for room, or for its subscription to go on, and whoever makes that happen looks again. Undefined: only after an enqueue.
   */
  nextDueAfter(now: number): Promise<number | undefined>;
  /** Dead letters of one subscription, newest first, those before `before` only. */
  deadLetters(
    webhookId: string,
    page: { readonly before?: DeadLetterCursor | undefined; readonly limit: number },
  ): Promise<readonly DeadLetter[]>;
  /**
   * Puts up to `limit` dead letters back to wait, due now and with no attempt behind them; returns how many there were. One that
   * died after `now` stays: it may have been put back before, and come straight back.
   */
  redrive(
    request: {
      readonly webhookId: string;
      /** Undefined: any. */
      readonly deliveryIds: readonly string[] | undefined;
      readonly now: number;
      readonly limit: number;
    },
    transaction: Transaction,
  ): Promise<number>;
  /** Deletes up to `limit` dead letters that expired by `now`; returns how many there were. */
  sweep(now: number, limit: number): Promise<number>;
}

export interface ClaimRequest {
  readonly now: number;
  /** A claim that is neither settled nor released by then is up for taking again. */
  readonly leaseUntil: number;
  readonly limit: number;
  readonly capacityOf: RemainingCapacity;
}

/** How many more deliveries of a subscription may be claimed now. */
export type RemainingCapacity = (webhookId: string) => number;
