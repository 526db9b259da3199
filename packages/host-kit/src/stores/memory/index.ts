import type { Store } from '../../ports/store.ts';
import { artifactStore } from './artifacts.ts';
import { attemptLog } from './attempts.ts';
import { auditStore } from './audit.ts';
import { byokStore } from './byok.ts';
import { deliveryQueue } from './deliveries.ts';
import { eventStore } from './events.ts';
import { idempotencyStore } from './idempotency.ts';
import { interruptStore } from './interrupts.ts';
import { journal as openJournal } from './journal.ts';
import { runStore } from './runs.ts';
import { subscriptionStore } from './subscriptions.ts';
import { webhookJobStore } from './webhook-jobs.ts';
import { workspaceStore } from './workspace.ts';

/**
 * Creates a store in memory, for tests and trials. Its content ends with the process, and one host can use it.
 *
 * @example
 * const host = createHost({ …, store: memoryStore() });
 */
export function memoryStore(): Store {
  const journal = openJournal();
  const runs = runStore(journal);
  const deliveries = deliveryQueue(journal, (webhookId) => subscriptions.isPaused(webhookId));
  const webhookJobs = webhookJobStore(journal, (webhookId) => subscriptions.isThere(webhookId));
  const attempts = attemptLog(journal, (webhookId) => subscriptions.isThere(webhookId));
  const subscriptions = subscriptionStore(journal, (webhookId, transaction) => {
    deliveries.drop(webhookId, transaction);
    attempts.drop(webhookId, transaction);
    webhookJobs.drop(webhookId, transaction);
  });
  return {
    transaction: journal.transaction,
    runs,
    events: eventStore(journal),
    interrupts: interruptStore(journal),
    artifacts: artifactStore(journal),
    subscriptions,
    attempts,
    deliveries,
    webhookJobs,
    backlog: { read: deliveries.backlog },
    audit: auditStore(journal),
    byok: byokStore(journal),
    idempotency: idempotencyStore(journal),
    workspace: workspaceStore(journal, runs.filesRevisions),
    async close() {},
  };
}
