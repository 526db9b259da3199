import type { DatabaseSync } from 'node:sqlite';
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

/** In order. A released migration is never edited. */
const MIGRATIONS: readonly string[] = [
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
];

/**
 * Migrates the schema to that of this version, one transaction for each migration.
 *
 * @throws {Error} when a newer version of the kit wrote the database
 */
export function migrate(database: DatabaseSync): void {
  for (let version = versionOf(database); version < MIGRATIONS.length; version++) {
    database.exec('BEGIN IMMEDIATE');
    try {
      database.exec(`${MIGRATIONS[version] ?? ''}; PRAGMA user_version = ${version + 1}`);
      database.exec('COMMIT');
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
  }
}

function versionOf(database: DatabaseSync): number {
  const version = Number(database.prepare('PRAGMA user_version').get()?.user_version ?? 0);
  if (version > MIGRATIONS.length) {
    throw new Error(
      `The database has schema version ${version}; this version of the kit knows ${MIGRATIONS.length}. Upgrade the kit.`,
    );
  }
  return version;
}
