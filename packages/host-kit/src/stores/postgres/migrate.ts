import pg from 'pg';
import { initial } from './migrations/0001-initial.ts';
import { byok } from './migrations/0002-byok.ts';
import { runEpoch } from './migrations/0003-run-epoch.ts';
import { rotation } from './migrations/0004-rotation.ts';
import { runOperations } from './migrations/0005-run-operations.ts';
import { idempotency } from './migrations/0006-idempotency.ts';
import { workspaceFiles } from './migrations/0007-workspace-files.ts';
import { interrupts } from './migrations/0008-interrupts.ts';
import { artifacts } from './migrations/0009-artifacts.ts';
import { unowned } from './migrations/0010-unowned.ts';
import { nextDue } from './migrations/0011-next-due.ts';
import { conversations } from './migrations/0012-conversations.ts';
import { outages } from './migrations/0013-outages.ts';
import { attemptPhases } from './migrations/0014-attempt-phases.ts';
import { webhookJobs } from './migrations/0015-webhook-jobs.ts';
import { runReach } from './migrations/0016-run-reach.ts';

/** In order. A released migration is never edited. */
const MIGRATIONS: readonly string[] = [
  initial,
  byok,
  runEpoch,
  rotation,
  runOperations,
  idempotency,
  workspaceFiles,
  interrupts,
  artifacts,
  unowned,
  nextDue,
  conversations,
  outages,
  attemptPhases,
  webhookJobs,
  runReach,
];

/**
 * Migrates the schema to that of this version, in one transaction and under a lock, so that several hosts can start at
 * the same time.
 *
 * @throws {Error} when a newer version of the kit wrote the database
 */
export async function migrate(url: string, schema: string): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    statement_timeout: 60_000,
    query_timeout: 90_000,
  });
  // Without an error listener, a connection that breaks would end the process. The statement under way rejects anyway.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock(hashtext($1))', [`svc schema ${schema}`]);
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}; SET LOCAL search_path TO ${schema}`);
    await client.query('CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)');
    const { rows } = await client.query<{ version: number }>('SELECT version FROM schema_version');
    const version = rows[0]?.version ?? 0;
    if (version > MIGRATIONS.length) {
      throw new Error(
        `The database has schema version ${version}; this version of the kit knows ${MIGRATIONS.length}. Upgrade the kit.`,
      );
    }
    for (const migration of MIGRATIONS.slice(version)) await client.query(migration);
    await client.query('DELETE FROM schema_version');
    await client.query('INSERT INTO schema_version VALUES ($1)', [MIGRATIONS.length]);
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
}
