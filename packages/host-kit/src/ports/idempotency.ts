import type { Transaction } from './transaction.ts';

/**
 * Stores the reply to a request, made from `result`, under the request's idempotency key. Does nothing for a request without a key.
 * An operation calls it once, in the transaction of its effect: after a crash the key has a reply exactly when the effect is durable.
 * If it rejects, the transaction must not commit.
 *
 * @throws {HostError} `idempotency_in_flight` when the request outlived its lease and another request with the key took over
 */
export type Save<Result> = (result: Result, transaction: Transaction) => Promise<void>;

/** The `save` of an operation that no request asked for. */
export const saveNothing: Save<unknown> = async () => {};

/** What names one key: nothing of the credential that it came with. Live and test are worlds of their own. */
export interface IdempotencyKey {
  readonly tenant: string;
  readonly mode: 'live' | 'test';
  /** The routed operation, whatever path it was reached by. */
  readonly operation: string;
  /** SHA-256 of the key, in base64url: the key itself is kept nowhere. */
  readonly keyHash: string;
}

/** One execution under a key. */
export interface IdempotencyClaim extends IdempotencyKey {
  /** Unlike that of any other execution. */
  readonly owner: string;
}

/** A reply that is replayed until it expires. */
export interface KeptReply extends IdempotencyKey {
  readonly sealed: Uint8Array;
}

export interface BeginOptions {
  /** What was asked for: another request under the same key has another. */
  readonly digest: string;
  /** Times in milliseconds since the epoch. */
  readonly now: number;
  /** Until then nobody else executes it. */
  readonly leaseUntil: number;
  /** Then the key is as if it had never been used. */
  readonly expiresAt: number;
}

/**
 * Where a key stands:
 *
 * | was | asked again with the same digest | with another |
 * |---|---|---|
 * | absent, or expired | `claimed` | `claimed` |
 * | claimed, its lease running | `in-flight` | `mismatch` |
 * | claimed, its lease over | `claimed`, by the new owner alone | `mismatch` |
 * | completed | `completed` | `mismatch` |
 */
export type Begun =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'in-flight'; readonly leaseUntil: number }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'completed'; readonly sealed: Uint8Array };

/** The keys of mutating requests, and the replies that they are answered with again. */
export interface IdempotencyStore {
  /** Of those who begin at the same time with one key, one gets `claimed`. */
  begin(claim: IdempotencyClaim, options: BeginOptions): Promise<Begun>;
  /** Keeps the reply. False, and nothing is written, when the claim is not the current one any more. */
  complete(
    claim: IdempotencyClaim,
    reply: { readonly sealed: Uint8Array; readonly expiresAt: number },
    transaction: Transaction,
  ): Promise<boolean>;
  /** Gives the key back, as if it had never been used. Nothing happens when the claim is not the current one any more. */
  release(claim: IdempotencyClaim): Promise<void>;
  /** Removes up to `limit` keys that have expired, and returns how many. */
  sweep(now: number, limit: number): Promise<number>;
  /** Everybody's replies, in an order of the store's own, those after `after` only: for the host itself, which acts for no caller. */
  page(page: { readonly after: IdempotencyKey | undefined; readonly limit: number }): Promise<readonly KeptReply[]>;
  /** Puts another sealing of the same reply in place of `reply.sealed`. Nothing happens when that is not there any more. */
  reseal(reply: KeptReply, sealed: Uint8Array, transaction: Transaction): Promise<void>;
}

/** What a sealed reply is bound to: under another key it does not open. */
export function sealedFor({ tenant, mode, operation, keyHash }: IdempotencyKey): string {
  return JSON.stringify(['idempotency', tenant, mode, operation, keyHash]);
}
