/** The deliveries that are due but have not been claimed, for subscriptions that are not paused. */
export interface Backlog {
  /** Number of deliveries, counted up to the requested limit. */
  readonly due: number;
  /**
   * The earliest due time among them, in ms since the epoch. Undefined: there are none.
   */
  readonly oldestDueAt: number | undefined;
}

/** Measures the outbox for telemetry and operators. */
export interface BacklogStore {
  /**
   * Counts due deliveries. The cost is bounded by `limit` and the number of subscriptions, not by the length of the
   * backlog.
   */
  read(request: {
    /** Subscriptions to count. Undefined: all of them, of every tenant. */
    readonly webhookIds: readonly string[] | undefined;
    /** A delivery is due when its `dueAt` is at or before this time, in ms since the epoch. */
    readonly now: number;
    /** Maximum that is counted. */
    readonly limit: number;
  }): Promise<Backlog>;
}
