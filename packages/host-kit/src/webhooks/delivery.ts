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
