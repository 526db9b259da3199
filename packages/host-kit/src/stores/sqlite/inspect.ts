import { DatabaseSync } from 'node:sqlite';
import type { AuditReader } from '@svc/auth/audit';
import type { SealedRecord } from '../../ports/sealed-record.ts';
import { type FoundSchema, requireReadable } from '../migration.ts';
import { PENDING, type PendingWork, pendingOf, sealedIn } from '../sql/inspection.ts';
import { text } from '../sql/row.ts';
import { auditReader } from './audit.ts';
import { foundSchema, SCHEMA_VERSION } from './migrate.ts';
import { journalOf } from './write-journal.ts';

/** A database that is only read. The host that owns it may run meanwhile. */
export interface SqliteInspection {
  /** Version of the schema in the file. */
  readonly schemaVersion: number;
  /** Version of the schema that `sqliteStore` of this kit migrates to. */
  readonly knownSchemaVersion: number;
  /** The audit log. */
  readonly audit: AuditReader;
  /** Returns the faults that SQLite's `quick_check` finds, at most 20. Empty: none. */
  damage(): readonly string[];
  /** Reads the secrets that the database stores encrypted. */
  sealedRecords(): Generator<SealedRecord>;
  /** Counts the work that a host continues when it starts with this database. */
  pending(): PendingWork;
  /**
   * Writes a consistent copy into a new file, in one read transaction. Writers do not wait for it. The copy is one
   * file, without companions. It is not flushed to the disk.
   *
   * @throws {Error} when the file exists, or the disk is full
   */
  copyTo(path: string): void;
  /** Closes the connection. */
  close(): void;
}

/**
 * Opens the database file of a host to inspect and to copy it, without the lock of `sqliteStore` and without a
 * migration.
 *
 * @throws {Error} when the file does not exist, is no database of a host, or has a schema of a newer kit
 * @example
 * const inspection = inspectSqlite('/var/lib/svc/host.db');
 * inspection.copyTo('/backup/host.db');
 * inspection.close();
 */
export function inspectSqlite(path: string): SqliteInspection {
  const { database, schema } = opened(path);
  try {
    requireKnown(path, schema);
    return inspection(database, schema.version);
  } catch (error) {
    database.close();
    throw error;
  }
}

function opened(path: string): { readonly database: DatabaseSync; readonly schema: FoundSchema } {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS });
    const schema = foundSchema(database);
    // Reads the schema, which a damaged file may lack.
    database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get();
    return { database, schema };
  } catch (cause) {
    database?.close();
    const reason = cause instanceof Error ? cause.message : 'unknown error';
    throw new Error(`${path}: cannot be read as a database (${reason}). Correct the path, or restore a backup.`, {
      cause,
    });
  }
}

/** The wait for another process that changes the file as a whole. */
const BUSY_MS = 5000;

function requireKnown(path: string, schema: FoundSchema): void {
  if (schema.version === 0) throw new Error(`${path}: is not the database of a host. Correct the path.`);
  requireReadable(schema, SCHEMA_VERSION, `${path}:`);
}

const FAULTS = 20;

function inspection(database: DatabaseSync, schemaVersion: number): SqliteInspection {
  return {
    schemaVersion,
    knownSchemaVersion: SCHEMA_VERSION,
    audit: auditReader(database),
    damage: () =>
      database
        .prepare(`PRAGMA quick_check(${FAULTS})`)
        .all()
        .map((row) => text(row, 'quick_check'))
        .filter((line) => line !== 'ok'),
    *sealedRecords() {
      for (const { sql, recordOf } of sealedIn(schemaVersion)) {
        for (const row of database.prepare(sql).iterate()) yield recordOf(row);
      }
    },
    pending: () => pendingWork(database),
    copyTo: (path) => void database.prepare('VACUUM INTO ?').run(path),
    close: () => database.close(),
  };
}

/** Counts in one read transaction, in which no delivery moves from the journal to its table. */
function pendingWork(database: DatabaseSync): PendingWork {
  database.exec('BEGIN');
  try {
    const counted = pendingOf(database.prepare(PENDING).get() ?? {});
    const journalled = [...journalOf(database).deliveries.values()].map(({ delivery }) => delivery);
    if (journalled.length === 0) return counted;
    const waits = database.prepare("SELECT 1 FROM deliveries WHERE webhook_id = ? AND state <> 'dead' LIMIT 1");
    const others = [...new Set(journalled.map(({ webhookId }) => webhookId))].filter(
      (id) => waits.get(id) === undefined,
    );
    return {
      ...counted,
      deliveries: counted.deliveries + journalled.length,
      subscriptions: counted.subscriptions + others.length,
    };
  } finally {
    database.exec('COMMIT');
  }
}
