/**
 * The answer of a replay store to a claim:
 *
 * - `fresh`: the proof was not recorded before, and is now.
 * - `seen`: the proof was recorded before.
 * - `full`: the store has no room, so the proof is not recorded.
 */
export type ReplayAnswer = 'fresh' | 'seen' | 'full';

/** Stores used proofs. Several machines must share one store; otherwise each of them accepts a proof once. */
export interface ReplayStore {
  /**
   * Records a proof. Of all concurrent claims of one proof, one is answered `fresh`. A store that fails must throw: the
   * caller is then told to try again.
   *
   * @param id 64 hexadecimal digits
   * @param expiresAt milliseconds since the epoch. The proof is too old after it, so the store may forget it.
   */
  claim(id: string, expiresAt: number): ReplayAnswer | Promise<ReplayAnswer>;
}

/** Options of every replay store of this package. */
export interface ReplayStoreOptions {
  /**
   * Milliseconds since the epoch. Proofs are forgotten by it, up to 30 s after they expire. Default: `Date.now`.
   */
  readonly now?: () => number;
  /**
   * A monotonic clock in milliseconds. Default `performance.now`. A proof is remembered even if `now` is wrong by an hour
   * for a moment.
   */
  readonly monotonic?: () => number;
  /**
   * Most proofs that this process has recorded and that are not expired. Above it, new proofs are answered `full`.
   * Default 100 000 in memory, 1 000 000 in SQLite and PostgreSQL.
   */
  readonly maxEntries?: number;
  /** Called when a proof is answered `full`, at most once a minute. It must not throw. Default: not called. */
  readonly onFull?: (full: ReplayStoreFull) => void;
}

/** The event of a replay store without room. */
export interface ReplayStoreFull {
  /** The value of `maxEntries`. */
  readonly maxEntries: number;
}
