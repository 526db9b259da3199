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
import type { WorkspaceStore } from './workspace.ts';

/**
 * Everything a host keeps, behind one port. A store that passes `storeContract` of `@svc/host-kit/testing` can stand behind a
 * host.
 */
export interface Store {
  /**
   * Runs `work` and makes all that it wrote durable at once, or nothing of it when it rejects.
   * `work` must wait for nothing but this store, because every other writer waits for it. A store that undoes it because of
   * others may call it again: it begins from nothing then.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Whether other hosts may work on it, too: then what waits in it can appear, and be taken, at any time. Default false. */
  readonly shared?: boolean;
  readonly runs: RunStore;
  readonly events: EventStore;
  readonly interrupts: InterruptStore;
  readonly artifacts: ArtifactStore;
  readonly subscriptions: SubscriptionStore;
  readonly deliveries: DeliveryQueue;
  readonly backlog: BacklogStore;
  readonly attempts: AttemptLog;
  readonly audit: AuditStore;
  readonly byok: ByokStore;
  readonly idempotency: IdempotencyStore;
  readonly workspace: WorkspaceStore;
  close(): Promise<void>;
}
