import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { Inspection } from './database.ts';
import { type Manifest, rowsFile } from './manifest.ts';

/** Options of `importPostgres`. */
export interface PostgresImport {
  readonly url: string;
  /** The folder of the backup. */
  readonly folder: string;
  readonly manifest: Extract<Manifest, { readonly store: 'postgres' }>;
  /** Pauses every active subscription. */
  readonly holds: boolean;
  /** Called with the restored tables, before they are committed. */
  readonly examine: (inspection: Inspection) => Promise<void>;
}

/**
 * Restores the tables of a backup into a PostgreSQL database without any, in one transaction.
 *
 * @returns the number of subscriptions that were paused; undefined when none should be
 */
export async function importPostgres(options: PostgresImport): Promise<number | undefined> {
  const { url, folder, manifest, holds, examine } = options;
  const { restorePostgres } = await import('@svc/host-kit/stores/postgres');
  const { schemaVersion, tables, sequences } = manifest;
  const { held } = await restorePostgres({
    ...{ url, schemaVersion, tables, sequences, holdDeliveries: holds },
    rowsOf: (table) => createReadStream(join(folder, rowsFile(table))),
    examine: (restored) => examine({ ...restored, close: () => {} }),
  });
  return held;
}
