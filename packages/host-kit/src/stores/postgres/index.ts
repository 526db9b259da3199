import { type Demand, functionThat, type OptionNames, requireForms, requireKnown } from '../../known-options.ts';
import type { Store } from '../../ports/store.ts';
import { importedDriver } from '../../postgres-driver.ts';
import { schemaName } from './schema-name.ts';
import { unopened } from './unopened.ts';

export type { PendingWork } from '../sql/inspection.ts';
export type { PostgresTable } from './catalog.ts';
export { heldDeliveries, releaseDeliveries } from './held-deliveries.ts';
export { type InspectPostgresOptions, inspectPostgres, type PostgresInspection } from './inspect.ts';
export { type ExportedTable, type RestoredPostgres, type RestorePostgresOptions, restorePostgres } from './restore.ts';

/** Options of `postgresStore`. */
export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /**
   * Schema of the tables, created when missing: lower-case letters, digits and underscores, up to 51 characters.
   * Default `svc`.
   */
  readonly schema?: string;
  /** Maximum number of connections of this host, beside the one on which it follows changes of API keys. Default 20. */
  readonly connections?: number;
  /**
   * Called with errors that belong to no call, such as that of a connection that breaks. It must not throw. Default:
   * they are ignored.
   */
  readonly onError?: (cause: unknown) => void;
}

/**
 * Opens a store in PostgreSQL 13 or later, for one host or several that share it. One of the hosts delivers each event
 * to a subscription, and one executes a run. When a host dies, the others take over its deliveries at the end of their
 * claims, and its runs after 15 s.
 *
 * Resolves when the schema has been migrated to that of this version. A newer schema stays as it is: hosts of one release
 * before run on it, because a release removes only what the release before no longer uses.
 *
 * @throws {TypeError} when `url` is missing, an option is unknown or of a wrong form, or `schema` is not a valid name
 * @throws {SchemaVersionError} when a newer version of the kit wrote the database, and this version cannot use it
 * @throws {Error} when the package `pg` is not installed, the database cannot be reached, or its tables are locked for too
 * long
 * @example
 * const store = await postgresStore({ url: process.env.DATABASE_URL });
 */
export async function postgresStore(options: PostgresStoreOptions): Promise<Store> {
  if (typeof options === 'string')
    throw new TypeError('postgresStore: its options must be an object. Pass the address as { url }.');
  requireKnown('postgresStore', options, OPTION_NAMES);
  requireForms('postgresStore', options, OPTION_FORMS);
  const { url, schema = 'svc', connections = 20, onError = () => {} } = options;
  schemaName('postgresStore', schema);
  await importedDriver('postgresStore');
  // Imports the driver, too.
  const { openStore } = await import('./open-store.ts');
  return openStore({ url, schema, connections, onError }).catch((error: unknown) => {
    throw unopened(url, error);
  });
}

const OPTION_NAMES = {
  url: true,
  schema: true,
  connections: true,
  onError: true,
} as const satisfies OptionNames<PostgresStoreOptions>;

const OPTION_FORMS: Readonly<Record<string, Demand>> = {
  url: {
    form: 'an address',
    fits: (value) => typeof value === 'string' && /^(?:(?:postgres(?:ql)?|pg|socket):|\/)/i.test(value),
    remedy: 'Pass postgres://user:password@host:port/database.',
  },
  connections: {
    form: 'a whole number, at least 1',
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
    remedy: 'Leave it out for 20.',
    isOptional: true,
  },
  onError: functionThat('Leave it out to ignore errors that belong to no call.', true),
};
