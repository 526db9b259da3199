import type { DatabaseSync } from 'node:sqlite';
import { contract, expand, type FoundSchema, type Migration, readableBy, requireReadable } from '../migration.ts';
import { initial } from './migrations/0001-initial.ts';
import { audit } from './migrations/0002-audit.ts';
import { operations } from './migrations/0003-operations.ts';
import { byok } from './migrations/0004-byok.ts';
import { rotation } from './migrations/0005-rotation.ts';
import { runOperations } from './migrations/0006-run-operations.ts';
import { idempotency } from './migrations/0007-idempotency.ts';
import { turns } from './migrations/0008-turns.ts';
import { workspaceFiles } from './migrations/0009-workspace-files.ts';
import { interrupts } from './migrations/0010-interrupts.ts';
import { artifacts } from './migrations/0011-artifacts.ts';
import { conversations } from './migrations/0012-conversations.ts';
import { outages } from './migrations/0013-outages.ts';
import { deliveriesById } from './migrations/0014-deliveries-by-id.ts';
import { webhookJobs } from './migrations/0015-webhook-jobs.ts';
import { runReach } from './migrations/0016-run-reach.ts';
import { effects } from './migrations/0017-effects.ts';
import { annotations } from './migrations/0018-annotations.ts';
import { eventPositions } from './migrations/0019-event-positions.ts';
import { surroundings } from './migrations/0020-surroundings.ts';
import { effectResults } from './migrations/0021-effect-results.ts';
import { retention } from './migrations/0022-retention.ts';
import { auditTree } from './migrations/0023-audit-tree.ts';
import { apiKeys } from './migrations/0024-api-keys.ts';
import { auditTreeStart } from './migrations/0025-audit-tree-start.ts';
import { access } from './migrations/0026-access.ts';
import { attemptJournal } from './migrations/0027-attempt-journal.ts';
import { deliveryMinutes } from './migrations/0028-delivery-minutes.ts';
import { capturedAnswers } from './migrations/0029-captured-answers.ts';
import { apiKeyQuotas } from './migrations/0030-api-key-quotas.ts';
import { triggers } from './migrations/0031-triggers.ts';
import { versionUses } from './migrations/0032-version-uses.ts';
import { schedules } from './migrations/0033-schedules.ts';
import { quotaPeriods } from './migrations/0034-quota-periods.ts';
import { queues } from './migrations/0035-queues.ts';
import { childRuns } from './migrations/0036-child-runs.ts';
import { compensation } from './migrations/0037-compensation.ts';
import { writeJournal } from './migrations/0038-write-journal.ts';
import { sourcePlaces } from './migrations/0039-source-places.ts';
import { portalSessions } from './migrations/0040-portal-sessions.ts';

/** Hosts of these versions accept no newer schema, so nothing tells whether a migration expands. */
const BEFORE_EXPANSIONS: readonly string[] = [
  initial,
  audit,
  operations,
  byok,
  rotation,
  runOperations,
  idempotency,
  turns,
  workspaceFiles,
  interrupts,
  artifacts,
  conversations,
  outages,
  deliveriesById,
  webhookJobs,
  runReach,
  effects,
  annotations,
  eventPositions,
  surroundings,
  effectResults,
  retention,
  auditTree,
  apiKeys,
];

/** In order. A released migration is never edited. A migration that contracts comes one release after its expansion. */
export const MIGRATIONS: readonly Migration[] = [
  ...BEFORE_EXPANSIONS.map((sql) => contract(sql)),
  expand(auditTreeStart),
  expand(access),
  expand(attemptJournal),
  expand(deliveryMinutes),
  expand(capturedAnswers),
  expand(apiKeyQuotas),
  expand(triggers),
  expand(versionUses),
  expand(schedules),
  expand(quotaPeriods),
  expand(queues),
  expand(childRuns),
  expand(compensation),
  expand(writeJournal),
  expand(sourcePlaces),
  expand(portalSessions),
];

/** The first version that has the journal of writes. */
export const JOURNAL_VERSION = MIGRATIONS.findIndex(({ sql }) => sql === writeJournal) + 1;

/** The version that `migrate` migrates to. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/**
 * Migrates the schema to that of this version, one transaction for each migration. An empty database gets all of them in
 * one: thirty flushes less at the first start of a host. A newer schema stays as it is, if this version can use it.
 *
 * @param migrations default: those of this version
 * @throws {SchemaVersionError} when this version cannot use the schema
 */
export function migrate(database: DatabaseSync, migrations = MIGRATIONS): void {
  const found = foundSchema(database);
  requireReadable(found, migrations.length, 'The database');
  const steps = found.version === 0 ? migrations.length : 1;
  // After a crash, the journal may have rows until the migrated database is opened.
  const oldest = isJournalUsed(database) ? JOURNAL_VERSION : 1;
  for (let version = found.version; version < migrations.length; version += steps) {
    database.exec('BEGIN IMMEDIATE');
    try {
      for (const { sql } of migrations.slice(version, version + steps)) database.exec(sql);
      noteVersion(database, migrations.slice(0, version + steps), oldest);
      database.exec('COMMIT');
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
  }
}

function noteVersion(database: DatabaseSync, applied: readonly Migration[], oldest: number): void {
  database.exec(`PRAGMA user_version = ${applied.length}`);
  database.exec('CREATE TABLE IF NOT EXISTS schema_readable_by (version INTEGER NOT NULL)');
  database.exec('DELETE FROM schema_readable_by');
  database.prepare('INSERT INTO schema_readable_by VALUES (?)').run(Math.max(oldest, readableBy(applied)));
}

function isJournalUsed(database: DatabaseSync): boolean {
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'write_journal_use'").get();
  return table !== undefined && database.prepare('SELECT 1 FROM write_journal_use').get() !== undefined;
}

/** Reads the version of the schema of a database. */
export function foundSchema(database: DatabaseSync): FoundSchema {
  const version = Number(database.prepare('PRAGMA user_version').get()?.user_version ?? 0);
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_readable_by'").get();
  const row = table === undefined ? undefined : database.prepare('SELECT version FROM schema_readable_by').get();
  return { version, readableBy: row === undefined ? undefined : Number(row.version) };
}
