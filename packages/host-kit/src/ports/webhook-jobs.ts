import type { JsonObject } from '../json.ts';
import type { Transaction } from './transaction.ts';

/** A long operation on the deliveries of one subscription, which hosts carry out in steps. */
export interface WebhookJob {
  readonly jobId: string;
  readonly webhookId: string;
  /**
   * `redrive` queues dead letters again. `replay` queues the events of a time again. `transfer` moves dead letters to
   * another subscription.
   */
  readonly kind: 'redrive' | 'replay' | 'transfer';
  /** The selection, as the owner gave it. Its form depends on `kind`. */
  readonly request: JsonObject;
  /** Maximum number of deliveries that are queued in a second. */
  readonly rate: number;
  /** `failed`: the subscription has failed, or no longer accepts the deliveries. The last three are final. */
  readonly state: 'running' | 'paused' | 'completed' | 'cancelled' | 'failed';
  /** The number of steps and changes so far. A step that began with another number changes nothing. */
  readonly version: number;
  /** How far the steps have come. Its form depends on `kind`. Absent: at the beginning. */
  readonly place?: JsonObject;
  /** The number of dead letters or events that the steps have looked at. */
  readonly lookedAt: number;
  /** The number of deliveries that the steps have queued. */
  readonly queued: number;
  /** Earliest time of the next step, in ms since the epoch. */
  readonly nextStepAt: number;
  /** In ms since the epoch. */
  readonly createdAt: number;
  /** In ms since the epoch. */
  readonly updatedAt: number;
}

/**
 * The jobs of all subscriptions. A job is deleted with its subscription. The caller checks that the owner manages the
 * subscription.
 */
export interface WebhookJobStore {
  /** Adds a job. Does nothing when the subscription does not exist. */
  insert(job: WebhookJob, transaction: Transaction): Promise<void>;
  /** Returns a job of a subscription. */
  read(webhookId: string, jobId: string): Promise<WebhookJob | undefined>;
  /** Returns up to `limit` jobs of a subscription, newest first, after the id `before`. Ids sort by their time. */
  list(
    webhookId: string,
    page: { readonly before: string | undefined; readonly limit: number },
  ): Promise<readonly WebhookJob[]>;
  /** Counts the jobs of a subscription that run or are paused. Holds the subscription against other counts. */
  countOpen(webhookId: string, transaction: Transaction): Promise<number>;
  /**
   * Returns up to `limit` running jobs of all subscriptions whose next step is due at `now`, the earliest first. A step
   * that would wait for more than `LONGEST_STEP_WAIT_MS` was planned by a clock that was ahead. It is due, too.
   */
  due(now: number, limit: number): Promise<readonly WebhookJob[]>;
  /**
   * Replaces a job by the result of `change`, which gets the job as it is in this transaction. `change` is called once,
   * or not at all when the job does not exist. Undefined as its result leaves the job as it is.
   *
   * @returns the job after the change; undefined when it does not exist or stayed as it was
   */
  change(
    jobId: string,
    change: (job: WebhookJob) => WebhookJob | undefined,
    transaction: Transaction,
  ): Promise<WebhookJob | undefined>;
  /** Deletes up to `limit` jobs that ended before `before`, in ms since the epoch. Returns their number. */
  sweep(before: number, limit: number): Promise<number>;
}

/** Longer than any job waits for its next step, in ms. */
export const LONGEST_STEP_WAIT_MS = 60_000;
