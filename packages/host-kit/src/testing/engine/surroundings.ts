/** The surroundings of a process: its clock, and a service outside that runs call. */
export interface Surroundings {
  readonly calls: OutsideCall[];
  /** Moves the clock, and lets everything settle that follows. */
  pass(ms: number): Promise<void>;
  /**
   * Waits until `find` resolves with a value.
   *
   * @throws {Error} after the patience of the contract
   */
  until<T>(wanted: string, find: () => Promise<T | undefined> | T | undefined): Promise<T>;
}

/** A call that the outside got. */
export interface OutsideCall {
  readonly url: string;
  /** The header `idempotency-key`; null: none. */
  readonly key: string | null;
}
