import type pg from 'pg';
import { SchemaVersionError } from '../../ports/schema-version.ts';
import { importedDriver } from '../../postgres-driver.ts';
import { contract, expand, type FoundSchema, type Migration, readableBy, requireReadable } from '../migration.ts';
import { initial } from './migrations/0001-initial.ts';
import { openedSecrets } from './migrations/0002-opened-secrets.ts';

/** In order. A released migration is never edited. A migration that contracts comes one release after its expansion. */
export const MIGRATIONS: readonly Migration[] = [contract(initial), expand(openedSecrets)];

/** Options of `migrate`. */
export interface MigrateOptions {
  readonly url: string;
  readonly schema: string;
  /** Default: those of this version. */
  readonly migrations?: readonly Migration[];
  /** The longest wait for the migration of another host, in ms. Default 45 000. */
  readonly hostWaitMs?: number;
  /** The longest wait for a table that a transaction uses, in ms. Requests wait meanwhile, too. Default 10 000. */
  readonly tableWaitMs?: number;
}

/**
 * Migrates the schema to that of this version, in one transaction and under a lock, so that several hosts can start at
 * the same time. A newer schema stays as it is, if this version can use it.
 *
 * @throws {SchemaVersionError} when this version cannot use the schema, or hosts are connected that could not use it
 * after the migration
 * @throws {Error} when a lock is not free in time
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  const { url, schema, migrations = MIGRATIONS, hostWaitMs = 45_000, tableWaitMs = 10_000 } = options;
  const { Client } = await importedDriver('postgresStore');
  const client = new Client({
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
    await lockSchema(client, schema, hostWaitMs);
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}; SET LOCAL search_path TO ${schema}`);
    await client.query('CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL, readable_by integer)');
    const found = await foundSchema(client);
    requireReadable(found, migrations.length, 'The database');
    await client.query(`SET LOCAL lock_timeout = ${tableWaitMs}`);
    if (found.version < migrations.length) {
      if (found.version > 0) await requireNoOlderHosts(client, schema, readableBy(migrations));
      await applyMigrations(client, migrations, found.version);
    }
    await continueEventOrder(client);
    await client.query('COMMIT');
  } catch (error) {
    throw isLockTimeout(error) ? new Error(inUse(schema, tableWaitMs), { cause: error }) : error;
  } finally {
    await client.end();
  }
}

/**
 * Locks a schema until the end of the transaction. One client changes a schema at a time.
 *
 * @throws {Error} when another client has the lock for longer than `waitMs`
 */
export async function lockSchema(client: pg.ClientBase, schema: string, waitMs: number): Promise<void> {
  await client.query(`SET LOCAL lock_timeout = ${waitMs}`);
  try {
    await client.query('SELECT pg_advisory_xact_lock(hashtext($1))', [`svc schema ${schema}`]);
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    throw new Error(
      `The schema ${schema} of the database has been locked by another host or command for ${waitMs / 1000} s. Start again when it has ended.`,
      { cause: error },
    );
  }
}

/** Applies the migrations after version `from`, and notes the new version. */
export async function applyMigrations(
  client: pg.ClientBase,
  migrations: readonly Migration[],
  from: number,
): Promise<void> {
  for (const { sql } of migrations.slice(from)) await client.query(sql);
  await client.query('ALTER TABLE schema_version ADD COLUMN IF NOT EXISTS readable_by integer');
  await client.query('DELETE FROM schema_version');
  await client.query('INSERT INTO schema_version (version, readable_by) VALUES ($1, $2)', [
    migrations.length,
    readableBy(migrations),
  ]);
}

/** Reads the version of the schema in the search path. */
export async function foundSchema(client: pg.ClientBase): Promise<FoundSchema> {
  const { rows } = await client.query<{ version: number; readable_by?: number | null }>('SELECT * FROM schema_version');
  return { version: rows[0]?.version ?? 0, readableBy: rows[0]?.readable_by ?? undefined };
}

/** Returns the name by which the connections of a host show the schema version that it knows. */
export function applicationName(schema: string): string {
  return `svc ${schema} ${MIGRATIONS.length}`;
}

/** A host that could not use the schema after the migration would fail at its next statement. */
async function requireNoOlderHosts(client: pg.ClientBase, schema: string, oldest: number): Promise<void> {
  const { rows } = await client.query<{ known: number }>(
    `SELECT DISTINCT split_part(application_name, ' ', 3)::integer AS known FROM pg_stat_activity
      WHERE datname = current_database() AND application_name ~ $1
        AND split_part(application_name, ' ', 3)::integer < $2 ORDER BY 1`,
    [`^svc ${schema} [0-9]{1,6}$`, oldest],
  );
  if (rows.length === 0) return;
  throw new SchemaVersionError(
    `Hosts that know schema version ${rows.map(({ known }) => known).join(', ')} use the database, and the migration removes what hosts before version ${oldest} need. Upgrade them to the release in between, or stop them, and start again.`,
  );
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03';
}

function inUse(schema: string, waitMs: number): string {
  return `The schema ${schema} of the database could not be migrated: a backup or another transaction used a table for ${waitMs / 1000} s. Start again when it has ended.`;
}

/**
 * Makes the positions of new events higher than all stored ones. They are not, after the tables were restored into a
 * server that has executed fewer transactions.
 */
async function continueEventOrder(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ newest: string | null; next: string }>(
    `SELECT greatest((SELECT max(commit_order) FROM events), (SELECT max(commit_order) FROM removed_positions)) AS newest,
      pg_snapshot_xmax(pg_current_snapshot())::text::bigint + (SELECT xid_offset FROM event_order) AS next`,
  );
  const { newest, next } = rows[0] ?? { newest: null, next: '0' };
  if (newest === null || BigInt(newest) < BigInt(next)) return;
  await client.query('UPDATE event_order SET xid_offset = $1', [newest]);
  await client.query(
    `ALTER TABLE events ALTER COLUMN commit_order SET DEFAULT (pg_current_xact_id()::text::bigint + ${BigInt(newest)})`,
  );
}
