/** What waits for its attempt although it is due, for subscriptions that are not paused. */
export interface Backlog {
  /** How many, up to the limit that was asked for. */
  readonly due: number;
  /** Since when the first of them has been due, in ms. What was handed back may have no such time. */
  readonly oldestDueAt: number | undefined;
}

export interface BacklogStore {
  /** Counts along an index and stops at `limit`, so that it costs the same however long the backlog is. */
  read(request: {
    /** Undefined: every subscription. */
    readonly webhookIds: readonly string[] | undefined;
    readonly now: number;
    readonly limit: number;
  }): Promise<Backlog>;
}
