import { randomUUID } from 'node:crypto';
import type { Store } from '../../ports/store.ts';
import type { Subscription } from '../../ports/subscriptions.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { PassedOver } from '../passed-over.ts';
import { integer } from '../sql/row.ts';
import { accessStore } from './access.ts';
import { annotationStore } from './annotations.ts';
import { apiKeyFeed } from './api-key-feed.ts';
import { apiKeyStore } from './api-keys.ts';
import { artifactStore } from './artifacts.ts';
import { attemptLog } from './attempts.ts';
import { auditStore } from './audit.ts';
import { backlogStore } from './backlog.ts';
import { byokStore } from './byok.ts';
import { capturedAnswers } from './captured-answers.ts';
import { openDatabase } from './database.ts';
import { deliveryQueue } from './deliveries.ts';
import { deliverySeries } from './delivery-series.ts';
import { effectStore } from './effects.ts';
import { eventStore } from './events.ts';
import { idempotencyStore } from './idempotency.ts';
import { interruptStore } from './interrupts.ts';
import { migrate } from './migrate.ts';
import { oldestSnapshotMs } from './oldest-snapshot.ts';
import { openedSecretStore } from './opened-secrets.ts';
import { portalSessionStore } from './portal-sessions.ts';
import { runStore } from './runs.ts';
import { sealingKeyStore } from './sealing-keys.ts';
import { subscriptionStore } from './subscriptions.ts';
import { triggerStore } from './triggers.ts';
import { isUnavailable } from './unavailable.ts';
import { versionUses } from './version-uses.ts';
import { webhookJobStore } from './webhook-jobs.ts';
import { workspaceStore } from './workspace.ts';

/** Options of `postgresStore`, with every default applied. */
export interface OpenStoreOptions {
  readonly url: string;
  readonly schema: string;
  readonly connections: number;
  readonly onError: (cause: unknown) => void;
}

/** Migrates a schema, and opens the store in it. */
export async function openStore({ url, schema, connections, onError }: OpenStoreOptions): Promise<Store> {
  await migrate({ url, schema });
  const database = openDatabase({ url, schema, connections, onError });
  const name = randomUUID();
  const passedOver = new PassedOver();
  const runs = runStore(database, name, LEASE_MS, passedOver);
  const renewing = setInterval(() => runs.renewLease().catch(onError), LEASE_MS / 3).unref();

  const deliveries = deliveryQueue(database);
  const attempts = attemptLog(database);
  const drop = async (subscription: Subscription, transaction: Transaction) => {
    await deliveries.drop(subscription, transaction);
    await attempts.drop(subscription.webhookId, transaction);
  };

  const feed = apiKeyFeed({ url, schema, database });

  return {
    shared: true,
    time: async () => integer((await database.query(TIME, [])).rows[0] ?? {}, 'now'),
    oldestSnapshotMs: () => oldestSnapshotMs(database),
    transaction: database.transaction,
    async probe() {
      await database.query(PROBE, []);
    },
    isUnavailable,
    runs,
    events: eventStore(database),
    interrupts: interruptStore(database),
    annotations: annotationStore(database),
    artifacts: artifactStore(database),
    effects: effectStore(database),
    subscriptions: subscriptionStore(database, drop, passedOver),
    unreadable: passedOver,
    deliveries: {
      ...deliveries,
      async sweep(now, limit) {
        const swept = await deliveries.sweep(now, limit);
        return swept < limit ? swept + (await attempts.sweep(limit - swept)) : swept;
      },
    },
    attempts,
    deliverySeries: deliverySeries(database, name),
    capturedAnswers: capturedAnswers(database),
    webhookJobs: webhookJobStore(database),
    triggers: triggerStore(database),
    backlog: backlogStore(database),
    audit: auditStore(database),
    apiKeys: apiKeyStore(database, { schema, feed, passedOver }),
    access: accessStore(database, schema, feed),
    portalSessions: portalSessionStore(database),
    byok: byokStore(database),
    openedSecrets: openedSecretStore(database),
    idempotency: idempotencyStore(database),
    sealingKeys: sealingKeyStore(database),
    versionUses: versionUses(database),
    workspace: workspaceStore(database),
    async close() {
      clearInterval(renewing);
      await runs.endLease().catch(onError);
      await database.close();
    },
  };
}

/** `clock_timestamp`, because `now` is the start of the transaction. */
const TIME = { name: 'time', text: 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now' };
/** Writes a row, so that a read-only database or a full disk is seen. */
const PROBE = { name: 'probe', text: 'UPDATE probe SET count = count + 1' };
/** Lease of a host on its runs, renewed every 5 s. When it ends because the host died, others take over the runs. */
const LEASE_MS = 15_000;
