import type { Transaction } from './transaction.ts';

/** The outcome of one attempt to deliver. It contains no body, header or secret. */
export interface AttemptRecord {
  readonly deliveryId: string;
  readonly webhookId: string;
  /** The run whose event was delivered. */
  readonly runId: string;
  /** `sequence` of the event. */
  readonly sequence: number;
  /** Name of the event in the major of the subscription. */
  readonly eventType: string;
  /** Number of the attempt among those of its delivery, from 1. */
  readonly attempt: number;
  /** End of the attempt, in ms since the epoch. */
  readonly at: number;
  /** Duration in ms, to the microsecond. */
  readonly durationMs: number;
  /**
   * `delivered`: the receiver answered 2xx. `failed`: it answered otherwise, or not at all. `denied`: the transport's
   * policy rejected the URL. `skipped`: no request was sent.
   */
  readonly outcome: 'delivered' | 'failed' | 'denied' | 'skipped';
  /** HTTP status of the answer. Undefined: there was no answer. */
  readonly status: number | undefined;
  /** Reason code of an attempt without an answer, such as `timeout`. Undefined: there was an answer. */
  readonly reason: string | undefined;
  /** Its phases, in their order. The last one is the phase in which it ended. Absent: the transport tells none. */
  readonly phases?: readonly AttemptPhase[];
}

/**
 * A phase of an attempt: the resolution of the name, the connection, TLS, the request until the response begins, and
 * the response until its end. A kept connection needs neither `connect` nor `tls`.
 */
export type AttemptPhaseName = 'resolve' | 'connect' | 'tls' | 'request' | 'response';

/** A phase of an attempt with its duration. */
export interface AttemptPhase {
  readonly phase: AttemptPhaseName;
  /** In ms, to the microsecond. */
  readonly durationMs: number;
}

/** The last `ATTEMPTS_KEPT` attempts of each subscription. */
export interface AttemptLog {
  /**
   * Adds attempts, in the order in which they ended. Attempts for a subscription that does not exist (any more) are
   * ignored. Older attempts than the last `ATTEMPTS_KEPT` may be deleted at any time.
   */
  record(attempts: readonly AttemptRecord[], transaction: Transaction): Promise<void>;
  /** Returns up to `limit` attempts for a subscription, newest first, at most `ATTEMPTS_KEPT`. */
  list(webhookId: string, limit: number): Promise<readonly AttemptRecord[]>;
}

/** Number of attempts that are listed for each subscription. */
export const ATTEMPTS_KEPT = 100;
