import { randomUUID } from 'node:crypto';
import type { Store } from '../../ports/store.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { artifactStore } from './artifacts.ts';
import { attemptLog } from './attempts.ts';
import { auditStore } from './audit.ts';
import { backlogStore } from './backlog.ts';
import { byokStore } from './byok.ts';
import { openDatabase } from './database.ts';
import { deliveryQueue } from './deliveries.ts';
import { eventStore } from './events.ts';
import { idempotencyStore } from './idempotency.ts';
import { interruptStore } from './interrupts.ts';
import { migrate } from './migrate.ts';
import { runStore } from './runs.ts';
import { subscriptionStore } from './subscriptions.ts';
import { webhookJobStore } from './webhook-jobs.ts';
import { workspaceStore } from './workspace.ts';

/** Options of `postgresStore`. */
export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /**
   * Schema of the tables, created when missing: lower-case letters, digits and underscores, up to 51 characters.
   * Default `svc`.
   */
  readonly schema?: string;
  /** Maximum number of connections of this host. Default 20. */
  readonly connections?: number;
  /**
   * Called with errors that belong to no call, such as that of a connection that breaks. It must not throw. Default:
   * they are ignored.
   */
  readonly onError?: (cause: unknown) => void;
}

/**
 * Opens a store in PostgreSQL, for one host or several that share it. One of the hosts delivers each event to a
 * subscription, and one executes a run. When a host dies, the others take over its deliveries at the end of their
 * claims, and its runs after 15 s.
 *
 * Resolves when the schema has been migrated to that of this version.
 *
 * @throws {TypeError} when `schema` is not a valid name
 * @throws {Error} when the database cannot be reached, or a newer version of the kit wrote it
 * @example
 * const store = await postgresStore({ url: process.env.DATABASE_URL });
 */
export async function postgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, schema = 'svc', connections = 20, onError = () => {} } = options;
  if (!/^[a-z_][a-z0-9_]{0,50}$/.test(schema)) {
    throw new TypeError(
      'postgresStore: schema must have up to 51 lower-case letters, digits and underscores. Pass a name such as svc.',
    );
  }
  await migrate(url, schema);
  const database = openDatabase({ url, schema, connections, onError });
  const runs = runStore(database, randomUUID(), LEASE_MS);
  const renewing = setInterval(() => runs.renewLease().catch(onError), LEASE_MS / 3).unref();

  const deliveries = deliveryQueue(database);
  const attempts = attemptLog(database);
  const drop = async (webhookId: string, transaction: Transaction) => {
    await deliveries.drop(webhookId, transaction);
    await attempts.drop(webhookId, transaction);
  };

  return {
    shared: true,
    transaction: database.transaction,
    runs,
    events: eventStore(database),
    interrupts: interruptStore(database),
    artifacts: artifactStore(database),
    subscriptions: subscriptionStore(database, drop),
    deliveries: {
      ...deliveries,
      async sweep(now, limit) {
        const swept = await deliveries.sweep(now, limit);
        return swept < limit ? swept + (await attempts.sweep(limit - swept)) : swept;
      },
    },
    attempts,
    webhookJobs: webhookJobStore(database),
    backlog: backlogStore(database),
    audit: auditStore(database),
    byok: byokStore(database),
    idempotency: idempotencyStore(database),
    workspace: workspaceStore(database),
    async close() {
      clearInterval(renewing);
      await runs.endLease().catch(onError);
      await database.close();
    },
  };
}

/** Lease of a host on its runs, renewed every 5 s. When it ends because the host died, others take over the runs. */
const LEASE_MS = 15_000;
