/** The times after which records are removed, in whole days or hours. Discovery advertises them. */
export interface RetentionOptions {
  /**
   * The time after its end for which a run is kept, with its events, interrupts, artifacts and annotations, in days. At
   * least 1, and at least the time of stored replies and of an advertised `deadLetter` family. A removed run is answered
   * as one that never was, with 404. Its deliveries that wait, and its dead letters, stay. Default: for ever.
   */
  readonly runDays: number;
  /**
   * The time for which an entry of the audit log is kept, in days. At least 1. Entries are removed up to a checkpoint
   * that `audit.checkpointSink` holds, so it is required, with `lastUpTo`. Default: for ever.
   */
  readonly auditDays: number;
  /**
   * The time for which the reply to a request is stored under its idempotency key, in hours. At least 24. Default 24.
   */
  readonly replyHours: number;
  /** The time after its last change for which an effect is kept in the ledger, in days. At least 14. Default 30. */
  readonly effectDays: number;
  /**
   * The time for which the counts of a minute of deliveries are kept, for `/host/<org>/webhooks/{webhookId}/series`, in
   * days, from 1 to 31. Default 7.
   */
  readonly deliverySeriesDays: number;
  /**
   * The time for which the requests of each credential under each major are kept, for `/host/<org>/versions/callers`, in
   * days, from 1 to 400. Default 90.
   */
  readonly versionUseDays: number;
}
