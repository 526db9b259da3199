import type { AccessStore } from './access.ts';
import type { AnnotationStore } from './annotations.ts';
import type { ApiKeyStore } from './api-keys.ts';
import type { ArtifactStore } from './artifacts.ts';
import type { AttemptLog } from './attempts.ts';
import type { AuditStore } from './audit.ts';
import type { BacklogStore } from './backlog.ts';
import type { ByokStore } from './byok.ts';
import type { CapturedAnswers } from './captured-answers.ts';
import type { DeliveryQueue } from './deliveries.ts';
import type { DeliverySeries } from './delivery-series.ts';
import type { EffectStore } from './effects.ts';
import type { EventStore } from './events.ts';
import type { IdempotencyStore } from './idempotency.ts';
import type { InterruptStore } from './interrupts.ts';
import type { OpenedSecretStore } from './opened-secrets.ts';
import type { PortalSessionStore } from './portal-sessions.ts';
import type { RunStore } from './runs.ts';
import type { SealingKeyStore } from './sealing-keys.ts';
import type { StoreFiles } from './store-files.ts';
import type { SubscriptionStore } from './subscriptions.ts';
import type { Transaction } from './transaction.ts';
import type { TriggerStore } from './triggers.ts';
import type { UnreadableRecords } from './unreadable-record.ts';
import type { VersionUses } from './version-uses.ts';
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
 *    (`subscriptions.updateState`, `updateSecrets`, `webhookJobs.countOpen`), job (`webhookJobs.change`), trigger (`triggers.change`), effect (`effects.readForChange`), API key (`apiKeys.readForChange`), tenant (`access.hold`, `portalSessions.countOpen`) or place (`byok.count`, `triggers.count`, `workspace.newest`), the second waits until
 *    the first has ended; so do two that call `audit.append`. A method without that parameter is atomic by itself; in a
 *    store that outlives its process it returns committed records only.
 * 5. **Exclusive claims.** At any time, one claimant at most holds a delivery or an idempotency key, and one host
 *    drives a run. A claim that has run out can be taken over; its former holder then changes nothing any more.
 * 6. **Order.** Events of one run are listed by `sequence`, audit entries by `atSequence`; neither is ever changed. Both
 *    leave the store by `runs.removeEnded` and `audit.startAt` alone.
 *    Pages resume after their last record, and skip or repeat no record that existed throughout. Pages of
 *    `events.listAll` also skip no event that commits later, in whichever order transactions commit.
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
  /**
   * Returns the time of the store's own clock, in ms since the epoch. Hosts that share a store stamp leases and due times
   * with it, because their own clocks may differ. Absent: the store has no clock, and is used by one process.
   */
  readonly time?: () => Promise<number>;
  /**
   * Returns for how long the oldest open transaction of the database has prevented the clean-up of deleted and changed
   * rows, in ms; 0 when none does. Absent: a store whose speed does not depend on that.
   */
  readonly oldestSnapshotMs?: () => Promise<number>;
  /**
   * Writes a record of the store's own, and resolves when it is durable. The host asks it for the readiness probe, so a
   * store that can only be read is not ready.
   */
  probe(): Promise<void>;
  /**
   * Returns whether an error of a method says that the storage fails, rather than that the program is wrong. The host
   * answers such a request with 503 and `Retry-After` instead of 500. Default: no error does.
   */
  isUnavailable?(error: unknown): boolean;
  /**
   * The records that the store passed over because it cannot read them. Lists, pages and matches leave them out; a method that
   * reads one of them by its id rejects with an `UnreadableRecord`. Absent: every method rejects.
   */
  readonly unreadable?: UnreadableRecords;
  /** The files of the store. Absent: it has none on this machine. */
  readonly files?: StoreFiles;
  /** Runs: their definition and current state. */
  readonly runs: RunStore;
  /** The event log of each run. */
  readonly events: EventStore;
  /** Questions that runs ask, and their answers. */
  readonly interrupts: InterruptStore;
  /** Judgements of runs. */
  readonly annotations: AnnotationStore;
  /** Artifacts that runs produce. */
  readonly artifacts: ArtifactStore;
  /** The ledger of effects that runs had outside of the host. */
  readonly effects: EffectStore;
  /** Registered webhooks. */
  readonly subscriptions: SubscriptionStore;
  /** Deliveries that wait for an attempt, and dead letters. */
  readonly deliveries: DeliveryQueue;
  /** Size and age of the due deliveries, for telemetry and operators. */
  readonly backlog: BacklogStore;
  /** The last delivery attempts of each subscription. */
  readonly attempts: AttemptLog;
  /** The attempts and ended deliveries of each subscription, counted by minute. */
  readonly deliverySeries: DeliverySeries;
  /** Answers of failing receivers, encrypted. */
  readonly capturedAnswers: CapturedAnswers;
  /** Long operations on the deliveries of subscriptions. */
  readonly webhookJobs: WebhookJobStore;
  /** Trigger subscriptions and their messages. */
  readonly triggers: TriggerStore;
  /** The audit log: a hash chain of entries, and signed checkpoints over it. */
  readonly audit: AuditStore;
  /** API keys of callers, as hashes. */
  readonly apiKeys: ApiKeyStore;
  /** Roles, their assignments, and withdrawn credentials. */
  readonly access: AccessStore;
  /** Sessions of the portal, with digests of their codes and tokens. */
  readonly portalSessions: PortalSessionStore;
  /** Secrets that tenants bring (bring your own key), encrypted. */
  readonly byok: ByokStore;
  readonly openedSecrets: OpenedSecretStore;
  /** Idempotency keys and the replies that are replayed for them, encrypted. */
  readonly idempotency: IdempotencyStore;
  /** The ids of the keys that have sealed records of this store. */
  readonly sealingKeys: SealingKeyStore;
  /** The uses of each major of the protocol, by credential and day. */
  readonly versionUses: VersionUses;
  /** Files of workspaces, in versions. */
  readonly workspace: WorkspaceStore;
  /**
   * Waits for writes under way and frees all resources. The host calls it last; no other method may be called
   * afterwards.
   */
  close(): Promise<void>;
}
