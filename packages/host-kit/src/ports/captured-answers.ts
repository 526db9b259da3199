import type { Transaction } from './transaction.ts';

/** The answer of a failing receiver to one attempt, encrypted. */
export interface CapturedAnswer {
  readonly webhookId: string;
  readonly deliveryId: string;
  /** Number of the attempt among those of its delivery, from 1. A delivery that is sent again begins at 1. */
  readonly attempt: number;
  /** End of the attempt, in ms since the epoch. */
  readonly at: number;
  /** From this time on, `sweep` deletes it. In ms since the epoch. */
  readonly expiresAt: number;
  /** The encrypted answer, bound to its attempt. */
  readonly sealed: Uint8Array;
}

/** Identifies a captured answer. */
export type AnsweredAttempt = Pick<CapturedAnswer, 'webhookId' | 'deliveryId' | 'attempt' | 'at'>;

/** A captured answer in a walk through all of them. The next page begins after its `position`. */
export type PagedAnswer = CapturedAnswer & { readonly position: number };

/** Returns the context that the encryption of a captured answer is bound to. */
export function sealedForAnswer({ webhookId, deliveryId, attempt, at }: AnsweredAttempt): string {
  return JSON.stringify(['answer', webhookId, deliveryId, attempt, at]);
}

/** The last `ANSWERS_KEPT` captured answers of each subscription. */
export interface CapturedAnswers {
  /**
   * Adds answers, in the order in which their attempts ended, and deletes older ones than the last `ANSWERS_KEPT` of each
   * subscription. Answers to a subscription that does not exist (any more) are ignored.
   */
  add(answers: readonly CapturedAnswer[], transaction: Transaction): Promise<void>;
  /**
   * Returns the answers to the attempts of a delivery, newest first. Trusts its caller to have found the subscription
   * through `subscriptions`. The answers of a removed subscription are deleted with it.
   */
  list(webhookId: string, deliveryId: string): Promise<readonly CapturedAnswer[]>;
  /** Deletes up to `limit` answers whose `expiresAt` is at or before `now`. Returns how many it deleted. */
  sweep(now: number, limit: number): Promise<number>;
  /**
   * Returns up to `limit` answers of all tenants, after the position `after` (0: from the first). For the host's own tasks;
   * never on behalf of a caller.
   */
  page(page: { readonly after: number; readonly limit: number }): Promise<readonly PagedAnswer[]>;
  /**
   * Replaces the ciphertext of an answer by `sealed`, which encrypts the same answer under another key. Nothing happens
   * when the answer is gone.
   */
  reseal(answer: PagedAnswer, sealed: Uint8Array, transaction: Transaction): Promise<void>;
}

/** Number of captured answers that are kept for each subscription. */
export const ANSWERS_KEPT = 100;
