import type pg from 'pg';
import { SchemaVersionError } from '../../ports/schema-version.ts';
import { isFilled, type PostgresTable, sequencesOf, tablesOf } from './catalog.ts';
import { copyIn } from './copy.ts';
import { holdDeliveries } from './held-deliveries.ts';
import { inspectionOf, type PostgresInspection } from './inspect.ts';
import { applyMigrations, foundSchema, lockSchema, MIGRATIONS } from './migrate.ts';
import { commandClient } from './one-client.ts';
import { schemaName } from './schema-name.ts';

/** A table whose rows were exported. */
export interface ExportedTable extends PostgresTable {
  /** Number of its rows. */
  readonly rows: number;
}

/** Options of `restorePostgres`. */
export interface RestorePostgresOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** Schema of the tables: it has none yet, or does not exist. Default `svc`. */
  readonly schema?: string;
  /** `schemaVersion` of the inspection that exported the tables. */
  readonly schemaVersion: number;
  /** The exported tables, with their numbers of rows. */
  readonly tables: readonly ExportedTable[];
  /** `sequences()` of that inspection. */
  readonly sequences: Readonly<Record<string, string>>;
  /** Reads the exported rows of a table. */
  readonly rowsOf: (table: string) => AsyncIterable<Uint8Array>;
  /** True: every active subscription is paused, until `releaseDeliveries`. Default false. */
  readonly holdDeliveries?: boolean;
  /** Called before the commit, with what it will make visible. The restore fails when it rejects. Default: no check. */
  readonly examine?: (restored: Omit<PostgresInspection, 'close'>) => Promise<void>;
}

/** The result of `restorePostgres`. */
export interface RestoredPostgres {
  /** Number of subscriptions that were paused; undefined without `holdDeliveries`. */
  readonly held: number | undefined;
}

/**
 * Restores exported tables into a database without any, in one transaction, and migrates them to the schema of this
 * version. After a failure the database is as it was.
 *
 * @throws {TypeError} when `schema` is not a valid name
 * @throws {SchemaVersionError} when a newer version of the kit exported the tables
 * @throws {Error} when the schema has tables, the tables are not those of their version, or the database fails
 * @example
 * await restorePostgres({ url, schemaVersion, tables, sequences, rowsOf: (name) => createReadStream(`${name}.copy`) });
 */
export async function restorePostgres(options: RestorePostgresOptions): Promise<RestoredPostgres> {
  const { url, schema = 'svc', schemaVersion, examine } = options;
  const name = schemaName('restorePostgres', schema);
  if (schemaVersion > MIGRATIONS.length)
    throw new SchemaVersionError(
      `The exported tables have schema version ${schemaVersion}; this version of the kit knows ${MIGRATIONS.length}. Upgrade the kit.`,
    );
  const client = await commandClient(url);
  try {
    await client.query('BEGIN');
    await lockSchema(client, name, LOCK_MS);
    if (await isFilled(client, name))
      throw new Error(
        `The schema ${name} of the database has tables. Name another database, or move the schema away (ALTER SCHEMA … RENAME): a restore replaces nothing.`,
      );
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${name}; SET LOCAL search_path TO ${name}`);
    await client.query('CREATE TABLE schema_version (version integer NOT NULL, readable_by integer)');
    await applyMigrations(client, MIGRATIONS.slice(0, schemaVersion), 0);
    await fill(client, name, options);
    await applyMigrations(client, MIGRATIONS, schemaVersion);
    const held = options.holdDeliveries === true ? await holdDeliveries(client) : undefined;
    await examine?.(inspectionOf(client, name, await foundSchema(client)));
    await client.query('COMMIT');
    return { held };
  } finally {
    // Also rolls back.
    await client.end();
  }
}

const LOCK_MS = 45_000;

async function fill(client: pg.ClientBase, schema: string, options: RestorePostgresOptions): Promise<void> {
  const { tables, sequences, rowsOf } = options;
  const made = await tablesOf(client, schema);
  // Only names of the catalog get into statements.
  requireSame(
    tables.map(({ name }) => name),
    made.map(({ name }) => name),
  );
  for (const { name, columns } of made) {
    const exported = tables.find((table) => table.name === name);
    requireSame(exported?.columns ?? [], columns);
    const { rows } = await client.query(`SELECT 1 FROM ${name} LIMIT 1`);
    // A migration has made rows, such as the start of the audit log, which no statement may replace otherwise.
    const isSeeded = rows.length > 0;
    if (isSeeded) await client.query(`ALTER TABLE ${name} DISABLE TRIGGER USER; DELETE FROM ${name}`);
    const order = exported?.columns.map((column) => columns[columns.indexOf(column)]) ?? [];
    const count = await copyIn(client, `COPY ${name} (${order.join(', ')}) FROM STDIN`, rowsOf(name));
    if (count !== exported?.rows)
      throw new Error(`${name}: has ${count} rows, and ${exported?.rows} were exported. Use another backup.`);
    if (isSeeded) await client.query(`ALTER TABLE ${name} ENABLE TRIGGER USER`);
  }
  const known = await sequencesOf(client, schema);
  requireSame(Object.keys(sequences), known);
  for (const name of known) await client.query('SELECT setval($1::regclass, $2, false)', [name, sequences[name]]);
  await startAnew(client, made);
}

/** Ends what was true for the former hosts and their server alone. */
async function startAnew(client: pg.ClientBase, made: readonly PostgresTable[]): Promise<void> {
  const has = (name: string) => made.some((table) => table.name === name);
  if (has('runs')) await client.query('UPDATE runs SET held_until = 0 WHERE held_until > 0');
  // Ids of transactions of another server. The next start of a host continues the order of events.
  if (has('event_order')) await client.query('UPDATE event_order SET xid_offset = 0');
}

function requireSame(exported: readonly string[], wanted: readonly string[]): void {
  const [first] = [...exported, ...wanted].filter((name) => !(exported.includes(name) && wanted.includes(name)));
  if (first === undefined) return;
  throw new Error(
    `${JSON.stringify(first)}: is not part of both the backup and its schema version. Use another backup.`,
  );
}
