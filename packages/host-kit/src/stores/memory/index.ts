import type { Store } from '../../ports/store.ts';
import { PassedOver } from '../passed-over.ts';
import { accessStore } from './access.ts';
import { annotationStore } from './annotations.ts';
import { apiKeyStore } from './api-keys.ts';
import { artifactStore } from './artifacts.ts';
import { attemptLog } from './attempts.ts';
import { auditStore } from './audit.ts';
import { byokStore } from './byok.ts';
import { capturedAnswers } from './captured-answers.ts';
import { deliveryQueue } from './deliveries.ts';
import { deliverySeries } from './delivery-series.ts';
import { effectStore } from './effects.ts';
import { eventStore } from './events.ts';
import { idempotencyStore } from './idempotency.ts';
import { interruptStore } from './interrupts.ts';
import { journal as openJournal } from './journal.ts';
import { openedSecretStore } from './opened-secrets.ts';
import { portalSessionStore } from './portal-sessions.ts';
import { runStore } from './runs.ts';
import { sealingKeyStore } from './sealing-keys.ts';
import { subscriptionStore } from './subscriptions.ts';
import { triggerStore } from './triggers.ts';
import { versionUses } from './version-uses.ts';
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
  const annotations = annotationStore(journal);
  const artifacts = artifactStore(journal);
  const effects = effectStore(journal);
  const interrupts = interruptStore(journal);
  const events = eventStore(journal, (tenancy, runId) => runs.reaches(tenancy, runId));
  const passedOver = new PassedOver();
  const runs = runStore(journal, [events, interrupts, artifacts, annotations, effects], passedOver);
  const deliveries = deliveryQueue(journal, {
    isPaused: (webhookId) => subscriptions.isPaused(webhookId),
    tenantOf: (webhookId) => subscriptions.tenantOf(webhookId),
  });
  const webhookJobs = webhookJobStore(journal, (webhookId) => subscriptions.isThere(webhookId));
  const attempts = attemptLog(journal, (webhookId) => subscriptions.isThere(webhookId));
  const answers = capturedAnswers(journal, (webhookId) => subscriptions.isThere(webhookId));
  const subscriptions = subscriptionStore(journal, (webhookId, transaction) => {
    deliveries.drop(webhookId, transaction);
    attempts.drop(webhookId, transaction);
    answers.drop(webhookId, transaction);
    webhookJobs.drop(webhookId, transaction);
  });
  return {
    transaction: journal.transaction,
    probe: () => journal.transaction(async () => {}),
    unreadable: passedOver,
    runs,
    events,
    interrupts,
    annotations,
    artifacts,
    effects,
    subscriptions,
    attempts,
    deliverySeries: deliverySeries(journal),
    capturedAnswers: answers,
    deliveries,
    webhookJobs,
    triggers: triggerStore(journal),
    backlog: { read: deliveries.backlog },
    audit: auditStore(journal),
    apiKeys: apiKeyStore(journal),
    access: accessStore(journal),
    portalSessions: portalSessionStore(journal),
    byok: byokStore(journal),
    openedSecrets: openedSecretStore(journal),
    idempotency: idempotencyStore(journal),
    sealingKeys: sealingKeyStore(),
    versionUses: versionUses(journal),
    workspace: workspaceStore(journal, runs.filesRevisions),
    async close() {},
  };
}
