import type { Transaction } from './transaction.ts';

/**
 * Stores the reply to a request, made from `result`, under the request's idempotency key. Does nothing for a request
 * without a key. An operation calls it once, in the transaction of its effect: after a crash the key has a reply
 * exactly when the effect is durable. If it rejects, the transaction must not commit.
 *
 * @throws {HostError} `idempotency_in_flight` when the request outlived its lease and another request with the key took
 * over
 */
export type Save<Result> = (result: Result, transaction: Transaction) => Promise<void>;

/** The `save` of an operation without a request, or whose reply is not stored. */
export const saveNothing: Save<unknown> = async () => {};

/** Identifies a key. The credential is not part of it; live and test mode are separate. */
export interface IdempotencyKey {
  readonly tenant: string;
  readonly mode: 'live' | 'test';
  /** The routed operation, independent of the path. */
  readonly operation: string;
  /** SHA-256 of the key, in base64url. The key itself is not stored. */
  readonly keyHash: string;
}

/** One execution under a key. */
export interface IdempotencyClaim extends IdempotencyKey {
  /** Unique to this execution. */
  readonly owner: string;
}

/** A reply that is replayed until it expires. */
export interface KeptReply extends IdempotencyKey {
  readonly sealed: Uint8Array;
}

/** The content and the times of a claim. */
export interface BeginOptions {
  /** A digest of the request: different requests under one key have different digests. */
  readonly digest: string;
  /** Times in milliseconds since the epoch. */
  readonly now: number;
  /** Until then no other request with the key executes. */
  readonly leaseUntil: number;
  /** From then on the key is unused again. */
  readonly expiresAt: number;
}

/**
 * Returns whether a lease still keeps other executions out. One that ends a minute later than a lease that begins now was
 * stamped by a clock that was ahead: it keeps none out, since its key would be blocked for as long as the clocks differ.
 */
export function isLeased(leaseUntil: number, asked: Pick<BeginOptions, 'now' | 'leaseUntil'>): boolean {
  return leaseUntil > asked.now && leaseUntil <= asked.leaseUntil + LEASE_EXCESS_MS;
}

const LEASE_EXCESS_MS = 60_000;

/**
 * The state of a key after `begin`:
 *
 * | before | with the same digest | with another digest |
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

/** The keys of mutating requests, with the replies that repeated requests get. */
export interface IdempotencyStore {
  /** Claims a key. Of concurrent calls for one key, exactly one returns `claimed`. */
  begin(claim: IdempotencyClaim, options: BeginOptions): Promise<Begun>;
  /** Stores the reply. Returns false and writes nothing when another execution has taken over the claim. */
  complete(
    claim: IdempotencyClaim,
    reply: { readonly sealed: Uint8Array; readonly expiresAt: number },
    transaction: Transaction,
  ): Promise<boolean>;
  /** Releases the key, which is unused again. Does nothing when another execution has taken over the claim. */
  release(claim: IdempotencyClaim): Promise<void>;
  /** Deletes up to `limit` expired keys, and returns their number. */
  sweep(now: number, limit: number): Promise<number>;
  /**
   * Lists the replies of all tenants after `after`, in an order of the store's own. For the host itself, not for a
   * caller.
   */
  page(page: { readonly after: IdempotencyKey | undefined; readonly limit: number }): Promise<readonly KeptReply[]>;
  /**
   * Replaces `reply.sealed` by another sealing of the same reply. Does nothing when the stored bytes differ from
   * `reply.sealed`.
   */
  reseal(reply: KeptReply, sealed: Uint8Array, transaction: Transaction): Promise<void>;
}

/** Returns the context that a sealed reply is bound to. With another context it does not open. */
export function sealedForReply({ tenant, mode, operation, keyHash }: IdempotencyKey): string {
  return JSON.stringify(['idempotency', tenant, mode, operation, keyHash]);
}
