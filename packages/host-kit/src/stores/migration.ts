import { SchemaVersionError } from '../ports/schema-version.ts';

/**
 * One step of the schema. A change that removes something takes two releases: the first expands the schema and stops
 * using the old part, the second contracts it. So hosts of two adjacent releases can share a database.
 */
export interface Migration {
  readonly sql: string;
  /**
   * `expand`: adds tables, indexes, or columns that have a default or may be null, so a host that does not know it goes
   * on. `contract`: removes or changes something, so hosts that know less than `readableBy` fail.
   */
  readonly kind: 'expand' | 'contract';
  /** Of a contraction: the oldest schema version whose hosts do not use the removed part. Absent: its own version. */
  readonly readableBy?: number;
}

/** Makes a migration that only adds. */
export function expand(sql: string): Migration {
  return { sql, kind: 'expand' };
}

/**
 * Makes a migration that removes or changes something.
 *
 * @param readableBy the oldest schema version whose hosts do not use that part; absent: the version of the migration
 */
export function contract(sql: string, readableBy?: number): Migration {
  return { sql, kind: 'contract', ...(readableBy !== undefined && { readableBy }) };
}

/** Returns the oldest schema version whose hosts can use the schema after these migrations. */
export function readableBy(migrations: readonly Migration[]): number {
  return migrations.reduce((oldest, { kind, readableBy: stated }, index) => {
    return kind === 'expand' ? oldest : Math.max(oldest, stated ?? index + 1);
  }, 1);
}

/** The schema that a database has. */
export interface FoundSchema {
  readonly version: number;
  /** The oldest schema version whose hosts can use it; undefined when the database does not say. */
  readonly readableBy: number | undefined;
}

/**
 * Requires that hosts which know the schema up to `known` can use the schema of a database.
 *
 * @throws {SchemaVersionError} when they cannot
 */
export function requireReadable({ version, readableBy: oldest }: FoundSchema, known: number, place: string): void {
  if (version <= known || (oldest !== undefined && oldest <= known)) return;
  const since = oldest === undefined ? '' : `, and hosts need to know ${oldest} for it`;
  throw new SchemaVersionError(
    `${place} has schema version ${version}; this version of the kit knows ${known}${since}. Upgrade the kit.`,
  );
}
