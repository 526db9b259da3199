import type { AuditStore } from '../audit/audit-store.ts';
import type { ByokStore } from '../byok/byok-store.ts';
import type { IdempotencyStore } from '../idempotency/idempotency-store.ts';
import type { InterruptStore } from '../interrupts/interrupt-store.ts';
import type { ArtifactStore } from '../runs/artifact.ts';
import type { EventStore } from '../runs/event-store.ts';
import type { RunStore } from '../runs/run-store.ts';
import type { Transaction } from '../transaction.ts';
import type { AttemptLog } from '../webhooks/attempt-log.ts';
import type { BacklogStore } from '../webhooks/backlog-store.ts';
import type { DeliveryQueue } from '../webhooks/delivery-queue.ts';
import type { SubscriptionStore } from '../webhooks/subscription-store.ts';
import type { WorkspaceStore } from '../workspace/workspace-store.ts';

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
