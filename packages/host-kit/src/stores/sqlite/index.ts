import { DatabaseSync } from 'node:sqlite';
import type { Store } from '../../ports/store.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { artifactStore } from './artifacts.ts';
import { attemptLog } from './attempts.ts';
import { auditStore } from './audit.ts';
import { backlogStore } from './backlog.ts';
import { byokStore } from './byok.ts';
import { deliveryQueue } from './deliveries.ts';
import { eventStore } from './events.ts';
import { idempotencyStore } from './idempotency.ts';
import { interruptStore } from './interrupts.ts';
import { migrate } from './migrate.ts';
import { takeOwnership } from './owner.ts';
import { runStore } from './runs.ts';
import { subscriptionStore } from './subscriptions.ts';
import { workspaceStore } from './workspace.ts';
import { writeAheadLog } from './write-ahead-log.ts';
import { writer as openWriter } from './writer.ts';

/**
 * A store in one SQLite file, for one host process. What a transaction wrote survives the process and a loss of power.
 *
 * @param path the database file; it and its companions are created when missing
 * @throws {Error} when another process has it open, or a newer version wrote it
 */
export function sqliteStore(path: string): Store {
  const owner = takeOwnership(path);
  try {
    return openStore(path, () => owner.release());
  } catch (error) {
    owner.release();
    throw error;
  }
}

function openStore(path: string, released: () => void): Store {
  const database = new DatabaseSync(path);
  database.exec(SETTINGS);
  migrate(database);
  // This process is the only one, so whoever held these is gone.
  database.exec('UPDATE idempotency_keys SET lease_until = 0 WHERE sealed IS NULL');
  // Readers see what is committed, never a transaction in progress.
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec('PRAGMA temp_store = MEMORY');
  const log = writeAheadLog({ path, database, reader });
  const writer = openWriter(database, log);
  const deliveries = deliveryQueue(reader, database, writer);
  const attempts = attemptLog(reader, database, writer);
  const belongings = {
    drop(webhookId: string, transaction: Transaction) {
      deliveries.drop(webhookId, transaction);
      attempts.drop(webhookId, transaction);
    },
    statusChanged: deliveries.statusChanged,
  };

  return {
    transaction: writer.transaction,
    runs: runStore(reader, database, writer),
    events: eventStore(reader, database, writer),
    interrupts: interruptStore(reader, database, writer),
    artifacts: artifactStore(reader, database, writer),
    subscriptions: subscriptionStore(reader, database, writer, belongings),
    deliveries,
    attempts,
    backlog: backlogStore(reader, deliveries.claimed),
    audit: auditStore(reader, database, writer),
    byok: byokStore(reader, database, writer),
    idempotency: idempotencyStore(reader, database, writer),
    workspace: workspaceStore(reader, database, writer),
    async close() {
      await writer.idle();
      log.close();
      reader.close();
      database.close();
      released();
    },
  };
}

/**
 * What a savepoint may have to undo stays in memory; the pages that are written again and again stay in the cache (16 MiB) and in the log.
 */
const SETTINGS = `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;
  PRAGMA cache_size = -16384`;
