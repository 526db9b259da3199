import type { Transaction } from './transaction.ts';

/** What became of one attempt: when, how long, and why; never a body, a header or a secret. */
export interface AttemptRecord {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly runId: string;
  readonly sequence: number;
  readonly eventType: string;
  /** From 1. */
  readonly attempt: number;
  /** When it ended, in ms. */
  readonly at: number;
  readonly durationMs: number;
  /** `skipped`: nothing was sent. */
  readonly outcome: 'delivered' | 'failed' | 'denied' | 'skipped';
  /** Of an answer. */
  readonly status: number | undefined;
  /** Of what got no answer. */
  readonly reason: string | undefined;
}

/** The last attempts of each subscription, `ATTEMPTS_KEPT` of them. */
export interface AttemptLog {
  /** In the order in which they ended. */
  record(attempts: readonly AttemptRecord[], transaction: Transaction): Promise<void>;
  /** Newest first. */
  list(webhookId: string, limit: number): Promise<readonly AttemptRecord[]>;
}

export const ATTEMPTS_KEPT = 100;
