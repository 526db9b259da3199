import { DatabaseSync } from 'node:sqlite';
import type { Store } from '../../ports/store.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { PassedOver } from '../passed-over.ts';
import { accessStore } from './access.ts';
import { annotationStore } from './annotations.ts';
import { apiKeyStore } from './api-keys.ts';
import { artifactStore } from './artifacts.ts';
import { attemptLog } from './attempts.ts';
import { auditStore } from './audit.ts';
import { backlogStore } from './backlog.ts';
import { byokStore } from './byok.ts';
import { capturedAnswers } from './captured-answers.ts';
import { databaseCheck } from './check.ts';
import { databaseFile } from './database-file.ts';
import { deliveryQueue } from './deliveries.ts';
import { deliverySeries } from './delivery-series.ts';
import { effectStore } from './effects.ts';
import { eventStore } from './events.ts';
import { noticingForeignWrites } from './foreign-writes.ts';
import { idempotencyStore } from './idempotency.ts';
import { interruptStore } from './interrupts.ts';
import { migrate } from './migrate.ts';
import { openedSecretStore } from './opened-secrets.ts';
import { identityOf, type Owner } from './owner.ts';
import { portalSessionStore } from './portal-sessions.ts';
import { RunCache } from './run-cache.ts';
import { runStore } from './runs.ts';
import { sealingKeyStore } from './sealing-keys.ts';
import { committedSubscriptions, subscriptionStore } from './subscriptions.ts';
import { triggerStore } from './triggers.ts';
import { isUnavailable } from './unavailable.ts';
import { versionUses } from './version-uses.ts';
import { webhookJobStore } from './webhook-jobs.ts';
import { workspaceStore } from './workspace.ts';
import { writeAheadLog } from './write-ahead-log.ts';
import { recoverJournal, WriteJournal, type WriteJournalOptions } from './write-journal.ts';
import { writer as openWriter } from './writer.ts';

export interface OpenStoreOptions extends Pick<WriteJournalOptions, 'most'> {
  /** The database file. */
  readonly path: string;
  /** Keeps other processes from the file. Released by `close`. */
  readonly owner: Owner;
}

/** Opens the store in a file that this process owns. */
export function openStore({ path, owner, ...options }: OpenStoreOptions): Store {
  const database = new DatabaseSync(path);
  database.exec(SETTINGS);
  migrate(database);
  recoverJournal(database);
  // Leases of a former process: this one is the only user of the file, so their holders are gone.
  database.exec('UPDATE idempotency_keys SET lease_until = 0 WHERE sealed IS NULL');
  // From now on the writer waits without blocking the process.
  database.exec('PRAGMA busy_timeout = 0');
  // A second connection sees committed records only, never a transaction in progress.
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec('PRAGMA temp_store = MEMORY; PRAGMA busy_timeout = 1000');
  const file = databaseFile({ path, owner });
  const check = databaseCheck({ path, reader, file });
  const log = writeAheadLog({ path, database, reader, file });
  const writer = openWriter(
    database,
    noticingForeignWrites(log, database, () => {
      cachedRuns.clear();
      deliveries.forgetAll();
    }),
  );
  const journal = new WriteJournal({ database, writer, ...options });
  const cachedRuns = new RunCache(writer);
  const passedOver = new PassedOver();
  const committed = committedSubscriptions(reader, writer);
  // The deliveries of a subscription that cannot be read wait until it can.
  const claimable = (webhookId: string) => passedOver.over(() => committed.of(webhookId));
  const deliveries = deliveryQueue({ reader, database, writer, journal, subscriptionOf: claimable });
  const exists = (webhookId: string) => committed.has(webhookId);
  const attempts = attemptLog({ reader, database, writer, exists });
  const belongings = {
    drop(webhookId: string, transaction: Transaction) {
      deliveries.drop(webhookId, transaction);
      attempts.drop(webhookId, transaction);
    },
    statusChanged: deliveries.statusChanged,
  };

  // Random, because SQLite writes no page whose content stays the same; several pages, as a run needs.
  const probe = database.prepare('UPDATE probe SET filler = randomblob(16384)');

  return {
    transaction: writer.transaction,
    probe: () => writer.transaction(async () => void probe.run()),
    isUnavailable: (error) => (error !== undefined && error === file.failure) || isUnavailable(error),
    files: { check: check.check, watch: file.watch, logBytes: () => identityOf(`${path}-wal`)?.size ?? 0 },
    runs: runStore(reader, database, writer, journal, { cache: cachedRuns, passedOver }),
    events: eventStore(reader, database, writer, journal),
    interrupts: interruptStore(reader, database, writer),
    annotations: annotationStore(reader, database, writer),
    artifacts: artifactStore(reader, database, writer),
    effects: effectStore(reader, database, writer),
    subscriptions: subscriptionStore(reader, database, writer, { committed, belongings, passedOver }),
    unreadable: passedOver,
    deliveries: {
      ...deliveries,
      async sweep(now, limit) {
        await attempts.tidy();
        return deliveries.sweep(now, limit);
      },
    },
    attempts,
    deliverySeries: deliverySeries(reader, database, writer, journal),
    capturedAnswers: capturedAnswers(reader, database, writer),
    webhookJobs: webhookJobStore(reader, database, writer),
    triggers: triggerStore(reader, database, writer),
    backlog: backlogStore(reader, journal, deliveries.claimed),
    audit: auditStore(reader, database, writer),
    apiKeys: apiKeyStore(reader, database, { writer, passedOver }),
    access: accessStore(reader, database, writer),
    portalSessions: portalSessionStore(reader, database, writer),
    byok: byokStore(reader, database, writer),
    openedSecrets: openedSecretStore(reader, database, writer),
    idempotency: idempotencyStore(reader, database, writer),
    sealingKeys: sealingKeyStore(reader, database, writer),
    versionUses: versionUses(reader, database, writer),
    workspace: workspaceStore(reader, database, writer),
    async close() {
      await writer.idle();
      // A store that cannot write keeps its journals for the next start.
      await attempts.moveAll().catch(() => {});
      try {
        await journal.close();
      } catch {}
      check.close();
      file.close();
      log.close();
      // The connections of a store that failed stay open until the process ends: a close would copy a log, whose content
      // on the disk is unknown, into the database.
      if (file.failure === undefined) {
        reader.close();
        database.close();
      }
      owner.release();
    },
  };
}

/**
 * `busy_timeout` is for the start, when another process may hold a lock for a moment. So is `synchronous = FULL`: SQLite
 * flushes the migrations and the recovered journal itself. Afterwards `writeAheadLog` flushes, and sets NORMAL.
 * `temp_store` keeps the undo data of savepoints in memory. `cache_size` (16 MiB) keeps frequently written pages in
 * memory.
 */
const SETTINGS = `PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;
  PRAGMA cache_size = -16384`;
