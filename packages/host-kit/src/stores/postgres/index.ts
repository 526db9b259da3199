import { randomUUID } from 'node:crypto';
import type { Store } from '../../ports/store.ts';
import type { Subscription } from '../../ports/subscriptions.ts';
import type { Transaction } from '../../ports/transaction.ts';
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
import { portalSessionStore } from './portal-sessions.ts';
import { runStore } from './runs.ts';
import { schemaName } from './schema-name.ts';
import { sealingKeyStore } from './sealing-keys.ts';
import { subscriptionStore } from './subscriptions.ts';
import { triggerStore } from './triggers.ts';
import { isUnavailable } from './unavailable.ts';
import { versionUses } from './version-uses.ts';
import { webhookJobStore } from './webhook-jobs.ts';
import { workspaceStore } from './workspace.ts';

export type { PendingWork } from '../sql/inspection.ts';
export type { PostgresTable } from './catalog.ts';
export { heldDeliveries, releaseDeliveries } from './held-deliveries.ts';
export { type InspectPostgresOptions, inspectPostgres, type PostgresInspection } from './inspect.ts';
export { type ExportedTable, type RestoredPostgres, type RestorePostgresOptions, restorePostgres } from './restore.ts';

/** Options of `postgresStore`. */
export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /**
   * Schema of the tables, created when missing: lower-case letters, digits and underscores, up to 51 characters.
   * Default `svc`.
   */
  readonly schema?: string;
  /** Maximum number of connections of this host, beside the one on which it follows changes of API keys. Default 20. */
  readonly connections?: number;
  /**
   * Called with errors that belong to no call, such as that of a connection that breaks. It must not throw. Default:
   * they are ignored.
   */
  readonly onError?: (cause: unknown) => void;
}

/**
 * Opens a store in PostgreSQL 13 or later, for one host or several that share it. One of the hosts delivers each event
 * to a subscription, and one executes a run. When a host dies, the others take over its deliveries at the end of their
 * claims, and its runs after 15 s.
 *
 * Resolves when the schema has been migrated to that of this version. A newer schema stays as it is: hosts of one release
 * before run on it, because a release removes only what the release before no longer uses.
 *
 * @throws {TypeError} when `schema` is not a valid name
 * @throws {SchemaVersionError} when a newer version of the kit wrote the database, and this version cannot use it
 * @throws {Error} when the database cannot be reached, or its tables are locked for too long
 * @example
 * const store = await postgresStore({ url: process.env.DATABASE_URL });
 */
export async function postgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, schema = 'svc', connections = 20, onError = () => {} } = options;
  schemaName('postgresStore', schema);
  await migrate({ url, schema });
  const database = openDatabase({ url, schema, connections, onError });
  const name = randomUUID();
  const runs = runStore(database, name, LEASE_MS);
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
    subscriptions: subscriptionStore(database, drop),
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
    apiKeys: apiKeyStore(database, schema, feed),
    access: accessStore(database, schema, feed),
    portalSessions: portalSessionStore(database),
    byok: byokStore(database),
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
