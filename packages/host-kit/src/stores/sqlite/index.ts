import { DatabaseSync } from 'node:sqlite';
import type { Store } from '../store.ts';
import { attemptLog } from './attempts.ts';
import { auditStore } from './audit.ts';
import { backlogStore } from './backlog.ts';
import { byokStore } from './byok.ts';
import { deliveryQueue } from './deliveries.ts';
import { eventStore } from './events.ts';
import { idempotencyStore } from './idempotency.ts';
import { migrate } from './migrate.ts';
import { takeOwnership } from './owner.ts';
import { runStore } from './runs.ts';
import { subscriptionStore } from './subscriptions.ts';
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
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
  migrate(database);
  // This process is the only one, so whoever made these claims is gone.
  database.exec(`UPDATE deliveries SET state = 'waiting', due_at = 0 WHERE state = 'claimed'`);
  database.exec('UPDATE idempotency_keys SET lease_until = 0 WHERE sealed IS NULL');
  // Readers see what is committed, never a transaction in progress.
  const reader = new DatabaseSync(path, { readOnly: true });
  const writer = openWriter(database);

  return {
    transaction: writer.transaction,
    runs: runStore(reader, database, writer),
    events: eventStore(reader, database, writer),
    subscriptions: subscriptionStore(reader, database, writer),
    deliveries: deliveryQueue(reader, database, writer),
    attempts: attemptLog(reader, database, writer),
    backlog: backlogStore(reader),
    audit: auditStore(reader, database, writer),
    byok: byokStore(reader, database, writer),
    idempotency: idempotencyStore(reader, database, writer),
    async close() {
      await writer.idle();
      reader.close();
      database.close();
      released();
    },
  };
}
