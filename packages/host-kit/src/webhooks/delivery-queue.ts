import type { Transaction } from '../transaction.ts';
import type { Claim, ClaimedDelivery, DeadLetter, DeadLetterCursor, Delivery, EndedClaim } from './delivery.ts';

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
  readonly room: Room;
}

/** How many more deliveries of a subscription may be claimed now. */
export type Room = (webhookId: string) => number;
