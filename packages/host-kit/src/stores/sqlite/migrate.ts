import type { DatabaseSync } from 'node:sqlite';
import { contract, expand, type FoundSchema, type Migration, readableBy, requireReadable } from '../migration.ts';
import { initial } from './migrations/0001-initial.ts';
import { openedSecrets } from './migrations/0002-opened-secrets.ts';

/** In order. A released migration is never edited. A migration that contracts comes one release after its expansion. */
export const MIGRATIONS: readonly Migration[] = [contract(initial), expand(openedSecrets)];

/** The version that `migrate` migrates to. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/**
 * Migrates the schema to that of this version, one transaction for each migration. An empty database gets all of them in
 * one: a flush at the first start of a host. A newer schema stays as it is, if this version can use it.
 *
 * @param migrations default: those of this version
 * @throws {SchemaVersionError} when this version cannot use the schema
 */
export function migrate(database: DatabaseSync, migrations = MIGRATIONS): void {
  const found = foundSchema(database);
  requireReadable(found, migrations.length, 'The database');
  const steps = found.version === 0 ? migrations.length : 1;
  for (let version = found.version; version < migrations.length; version += steps) {
    database.exec('BEGIN IMMEDIATE');
    try {
      for (const { sql } of migrations.slice(version, version + steps)) database.exec(sql);
      noteVersion(database, migrations.slice(0, version + steps));
      database.exec('COMMIT');
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
  }
}

function noteVersion(database: DatabaseSync, applied: readonly Migration[]): void {
  database.exec(`PRAGMA user_version = ${applied.length}`);
  database.exec('CREATE TABLE IF NOT EXISTS schema_readable_by (version INTEGER NOT NULL)');
  database.exec('DELETE FROM schema_readable_by');
  database.prepare('INSERT INTO schema_readable_by VALUES (?)').run(readableBy(applied));
}

/** Reads the version of the schema of a database. */
export function foundSchema(database: DatabaseSync): FoundSchema {
  const version = Number(database.prepare('PRAGMA user_version').get()?.user_version ?? 0);
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_readable_by'").get();
  const row = table === undefined ? undefined : database.prepare('SELECT version FROM schema_readable_by').get();
  return { version, readableBy: row === undefined ? undefined : Number(row.version) };
}
