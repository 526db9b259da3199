import type { Transaction } from '../ports/transaction.ts';
import type { WebhookJob } from '../ports/webhook-jobs.ts';

/** The work of one step: what it has looked at, and the write that it makes. */
export interface JobStep {
  readonly lookedAt: number;
  /** Where the next step begins. */
  readonly place: NonNullable<WebhookJob['place']>;
  /** Nothing is left for another step. */
  readonly isLast: boolean;
  /** Queues the deliveries, and returns their number. */
  queue(transaction: Transaction): Promise<number>;
}
