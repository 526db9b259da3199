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
import { webhookJobStore } from './webhook-jobs.ts';
import { workspaceStore } from './workspace.ts';
import { writeAheadLog } from './write-ahead-log.ts';
import { writer as openWriter } from './writer.ts';

/**
 * Opens a store in one SQLite file, for one host process. Committed writes survive the end of the process and a loss of
 * power.
 *
 * @param path the database file. It is created when missing, as are its companions `-wal`, `-shm` and `-owner` beside
 *   it.
 * @throws {TypeError} when `path` names no file: SQLite takes `:memory:`, `` and `file:` for databases of other kinds
 * @throws {Error} when another process uses the file, or a newer version of the kit wrote it
 * @example
 * const host = createHost({ …, store: sqliteStore('/var/lib/svc/host.db') });
 */
export function sqliteStore(path: string): Store {
  requireFile(path);
  const owner = takeOwnership(path);
  try {
    return openStore(path, () => owner.release());
  } catch (error) {
    owner.release();
    throw error;
  }
}

/** A store has two connections, and a database in memory belongs to one of them. */
function requireFile(path: string): void {
  if (path.trim() !== '' && path !== ':memory:' && !/^file:/i.test(path)) return;
  const shown = JSON.stringify(path.slice(0, 64));
  throw new TypeError(`path: ${shown} names no file. Pass the path of a file, or use memoryStore().`);
}

function openStore(path: string, released: () => void): Store {
  const database = new DatabaseSync(path);
  database.exec(SETTINGS);
  migrate(database);
  // Leases of a former process: this one is the only user of the file, so their holders are gone.
  database.exec('UPDATE idempotency_keys SET lease_until = 0 WHERE sealed IS NULL');
  // A second connection sees committed records only, never a transaction in progress.
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
    webhookJobs: webhookJobStore(reader, database, writer),
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
 * `temp_store` keeps the undo data of savepoints in memory. `cache_size` (16 MiB) keeps frequently written pages in
 * memory.
 */
const SETTINGS = `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;
  PRAGMA cache_size = -16384`;
