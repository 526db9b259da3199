import type { ArtifactStore } from './artifacts.ts';
import type { AttemptLog } from './attempts.ts';
import type { AuditStore } from './audit.ts';
import type { BacklogStore } from './backlog.ts';
import type { ByokStore } from './byok.ts';
import type { DeliveryQueue } from './deliveries.ts';
import type { EventStore } from './events.ts';
import type { IdempotencyStore } from './idempotency.ts';
import type { InterruptStore } from './interrupts.ts';
import type { RunStore } from './runs.ts';
import type { SubscriptionStore } from './subscriptions.ts';
import type { Transaction } from './transaction.ts';
import type { WebhookJobStore } from './webhook-jobs.ts';
import type { WorkspaceStore } from './workspace.ts';

/**
 * Keeps all state of a host. `memoryStore`, `sqliteStore` and `postgresStore` implement it; pass one to `createHost`.
 *
 * A store guarantees, most important first:
 *
 * 1. **Atomicity.** The writes of one `transaction` take effect together, or not at all when its `work` rejects.
 * 2. **Durability.** `transaction` resolves after its writes are durable. No method reports a write before that.
 * 3. **Tenancy.** A method that takes a `Tenancy`, a place or a `Topic` returns and changes records of that tenant and
 *    of that mode (live or test) alone. A method that takes a `Run` trusts its caller to have found that run through
 *    `runs`.
 * 4. **Isolation.** A method that takes a `transaction` sees the earlier writes of that transaction. When two
 *    transactions ask for the same run (`runs.readForChange`, `runs.forAppend`), scope (`runs.activeIn`), subscription
 *    (`subscriptions.updateState`, `updateSecrets`), job (`webhookJobs.change`) or place (`byok.count`, `workspace.newest`), the second waits until
 *    the first has ended; so do two that call `audit.append`. A method without that parameter is atomic by itself; in a
 *    store that outlives its process it returns committed records only.
 * 5. **Exclusive claims.** At any time, one claimant at most holds a delivery or an idempotency key, and one host
 *    drives a run. A claim that has run out can be taken over; its former holder then changes nothing any more.
 * 6. **Order.** Events of one run are listed by `sequence`, audit entries by `atSequence`; neither is ever changed.
 *    Pages resume after their last record, and skip or repeat no record that existed throughout.
 *
 * Every method rejects when the storage fails. A method that writes in a `transaction` rejects when that transaction
 * has ended or belongs to another store. Times are in milliseconds since the epoch.
 *
 * @see `storeContract` of `@svc/host-kit/testing`, which tests these guarantees
 */
export interface Store {
  /**
   * Runs `work` and makes its writes durable at once. When `work` rejects, its writes are undone and the promise
   * rejects with the same error.
   *
   * `work` may wait for this store alone: other writers may have to wait for it. It calls no writing method that takes
   * no `transaction` (such as `deliveries.claim`): a store with one writer would wait for itself forever. A store may
   * call `work` again after a conflict with another transaction has undone it, so its only effects are writes to this
   * store.
   *
   * @param work gets the transaction, which is valid until its promise settles
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /**
   * True when several hosts may work on this store at the same time. A host then polls for deliveries and runs of other
   * hosts besides waiting for its own. Default false.
   */
  readonly shared?: boolean;
  /** Runs: their definition and current state. */
  readonly runs: RunStore;
  /** The event log of each run. */
  readonly events: EventStore;
  /** Questions that runs ask, and their answers. */
  readonly interrupts: InterruptStore;
  /** Artifacts that runs produce. */
  readonly artifacts: ArtifactStore;
  /** Registered webhooks. */
  readonly subscriptions: SubscriptionStore;
  /** Deliveries that wait for an attempt, and dead letters. */
  readonly deliveries: DeliveryQueue;
  /** Size and age of the due deliveries, for telemetry and operators. */
  readonly backlog: BacklogStore;
  /** The last delivery attempts of each subscription. */
  readonly attempts: AttemptLog;
  /** Long operations on the deliveries of subscriptions. */
  readonly webhookJobs: WebhookJobStore;
  /** The audit log: a hash chain of entries, and signed checkpoints over it. */
  readonly audit: AuditStore;
  /** Secrets that tenants bring (bring your own key), encrypted. */
  readonly byok: ByokStore;
  /** Idempotency keys and the replies that are replayed for them, encrypted. */
  readonly idempotency: IdempotencyStore;
  /** Files of workspaces, in versions. */
  readonly workspace: WorkspaceStore;
  /**
   * Waits for writes under way and frees all resources. The host calls it last; no other method may be called
   * afterwards.
   */
  close(): Promise<void>;
}
