import type { AuditReader } from '@svc/auth/audit';
import type pg from 'pg';
import type { SealedRecord } from '../../ports/sealed-record.ts';
import { type FoundSchema, requireReadable } from '../migration.ts';
import { PENDING, type PendingWork, pendingOf, sealedIn } from '../sql/inspection.ts';
import { auditStore } from './audit.ts';
import { type PostgresTable, sequencesOf, tablesOf } from './catalog.ts';
import { copyOut } from './copy.ts';
import { foundSchema, MIGRATIONS } from './migrate.ts';
import { commandClient, withinClient } from './one-client.ts';
import { schemaName } from './schema-name.ts';

/** A database that is only read, as it was at one moment. Hosts may use it meanwhile. */
export interface PostgresInspection {
  /** Version of the schema in the database. */
  readonly schemaVersion: number;
  /** Version of the schema that `postgresStore` of this kit migrates to. */
  readonly knownSchemaVersion: number;
  /** The audit log. */
  readonly audit: AuditReader;
  /** Reads every row, and returns the faults that the server reports, one for each table or index. Empty: none. */
  damage(): Promise<readonly string[]>;
  /** Reads the secrets that the database stores encrypted. */
  sealedRecords(): AsyncGenerator<SealedRecord>;
  /** Counts the work that hosts continue with this database. */
  pending(): Promise<PendingWork>;
  /** Counts the subscriptions that `restorePostgres` has paused and that are not released. */
  held(): Promise<number>;
  /** Lists the tables, each after those that its foreign keys name. */
  tables(): Promise<readonly PostgresTable[]>;
  /** Returns the last value of each sequence. */
  sequences(): Promise<Readonly<Record<string, string>>>;
  /**
   * Reads the rows of a table of `tables()` in the text format of COPY. The memory is bounded by the longest row.
   *
   * @throws {Error} when the server fails, or sends nothing for two minutes
   */
  rowsOf(table: PostgresTable): AsyncGenerator<Uint8Array>;
  /** Closes the connection. */
  close(): Promise<void>;
}

/** Options of `inspectPostgres`. */
export interface InspectPostgresOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** Schema of the tables. Default `svc`. */
  readonly schema?: string;
}

/**
 * Opens the database of hosts to inspect and to export it, without a migration. Everything is read in one transaction
 * (repeatable read), so all of it is of the same moment. No host waits for it, but a migration does.
 *
 * @throws {TypeError} when `schema` is not a valid name
 * @throws {SchemaVersionError} when a newer version of the kit wrote the database, and this version cannot use it
 * @throws {Error} when the database cannot be reached, or has no host's tables
 * @example
 * const inspection = await inspectPostgres({ url: process.env.DATABASE_URL });
 * console.log(await inspection.pending());
 * await inspection.close();
 */
export async function inspectPostgres({ url, schema = 'svc' }: InspectPostgresOptions): Promise<PostgresInspection> {
  const name = schemaName('inspectPostgres', schema);
  const client = await commandClient(url);
  try {
    await client.query(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path TO ${name}`);
    const { rows } = await client.query(`SELECT to_regclass('schema_version') AS found`);
    if (rows[0]?.found === null)
      throw new Error(`The schema ${name} of the database has no tables of a host. Correct the URL.`);
    const found = await foundSchema(client);
    requireReadable(found, MIGRATIONS.length, 'The database');
    return { ...inspectionOf(client, name, found), close: () => client.end() };
  } catch (error) {
    await client.end();
    throw error;
  }
}

/**
 * Returns an inspection of what the transaction of a client sees.
 *
 * @internal
 */
export function inspectionOf(
  client: pg.ClientBase,
  schema: string,
  { version }: FoundSchema,
): Omit<PostgresInspection, 'close'> {
  const database = withinClient(client);
  return {
    schemaVersion: version,
    knownSchemaVersion: MIGRATIONS.length,
    audit: auditStore(database),
    damage: () => damageOf(client, schema),
    async *sealedRecords() {
      for (const { sql, recordOf } of sealedIn(version)) {
        await client.query(`DECLARE sealed NO SCROLL CURSOR FOR ${sql}`);
        for (let isMore = true; isMore; ) {
          const { rows } = await client.query<Record<string, unknown>>(`FETCH ${PAGE} FROM sealed`);
          yield* rows.map(recordOf);
          isMore = rows.length === PAGE;
        }
        await client.query('CLOSE sealed');
      }
    },
    async pending() {
      return pendingOf((await client.query<Record<string, unknown>>(PENDING)).rows[0] ?? {});
    },
    async held() {
      const { rows } = await client.query<{ count: string }>('SELECT count(*) FROM held_subscriptions');
      return Number(rows[0]?.count);
    },
    tables: () => tablesOf(client, schema),
    async sequences() {
      const values: Record<string, string> = {};
      for (const name of await sequencesOf(client, schema)) {
        const { rows } = await client.query<{ next: string }>(
          `SELECT (last_value + is_called::integer)::text AS next FROM ${name}`,
        );
        values[name] = rows[0]?.next ?? '1';
      }
      return values;
    },
    rowsOf: ({ name, columns }) => copyOut(client, `COPY ${name} (${columns.join(', ')}) TO STDOUT`),
  };
}

const PAGE = 500;

/** A row as text is read with its long values, which the server stores apart. */
async function damageOf(client: pg.ClientBase, schema: string): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const { name } of await tablesOf(client, schema)) {
    await client.query('SAVEPOINT reading');
    try {
      await client.query(`SELECT sum(octet_length(t::text)::bigint) FROM ${name} t`);
    } catch (error) {
      await client.query('ROLLBACK TO SAVEPOINT reading');
      faults.push(`${name}: ${error instanceof Error ? error.message : 'cannot be read'}`);
    }
  }
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      WHERE c.relnamespace = $1::regnamespace AND NOT i.indisvalid`,
    [schema],
  );
  return [...faults, ...rows.map(({ name }) => `${name}: is an invalid index`)];
}
