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

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** Its tables live in a schema of their own. Default `svc`. */
  readonly schema?: string;
  /** Connections of this host at the most. Default 20. */
  readonly connections?: number;
  /** Told of what goes wrong between statements, e.g. a connection that breaks. */
  readonly onError?: (cause: unknown) => void;
}

import { workspaceStore } from './workspace.ts';

/**
 * A store in PostgreSQL, for one host or several that share it: each event is delivered to each subscription by one of them, and a run
 * is executed by one. What a host that died had claimed is taken over by the others when its lease ends.
 *
 * @returns when the schema is this version's
 * @throws {Error} when the database cannot be reached, or a newer version wrote it
 * @example
 * const store = await postgresStore({ url: process.env.DATABASE_URL });
 */
export async function postgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, schema = 'svc', connections = 20, onError = () => {} } = options;
  if (!/^[a-z_][a-z0-9_]{0,50}$/.test(schema)) {
    throw new TypeError('postgresStore: schema must be a lower-case name of letters, digits and underscores.');
  }
  await migrate(url, schema);
  const database = openDatabase({ url, schema, connections, onError });
  const runs = runStore(database, randomUUID(), HELD_MS);
  const holding = setInterval(() => runs.hold().catch(onError), HELD_MS / 3).unref();

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
    backlog: backlogStore(database),
    audit: auditStore(database),
    byok: byokStore(database),
    idempotency: idempotencyStore(database),
    workspace: workspaceStore(database),
    async close() {
      clearInterval(holding);
      await runs.letGo().catch(onError);
      await database.close();
    },
  };
}

/** How long a host that has died keeps its runs from the others. */
const HELD_MS = 15_000;
