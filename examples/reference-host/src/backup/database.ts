import { existsSync } from 'node:fs';
import type { AuditReader } from '@svc/auth/audit';
import type { keyCoverageOf } from '@svc/host-kit';
import { inspectSqlite, type PendingWork } from '@svc/host-kit/stores/sqlite';
import type { Config } from '../config.ts';

/** A database that is only read, of either store. */
export interface Inspection {
  readonly schemaVersion: number;
  readonly knownSchemaVersion: number;
  readonly audit: AuditReader;
  damage(): readonly string[] | Promise<readonly string[]>;
  sealedRecords(): Parameters<typeof keyCoverageOf>[0];
  pending(): PendingWork | Promise<PendingWork>;
  close(): void | Promise<void>;
}

/** The database that a configuration names. */
export type DatabasePlace =
  | { readonly store: 'sqlite'; readonly path: string; readonly name: string }
  | { readonly store: 'postgres'; readonly url: string; readonly name: string };

/**
 * Returns the place of the database of a configuration. Its name has no password.
 *
 * @throws {Error} for a store in memory
 */
export function databasePlace({ store }: Pick<Config, 'store'>): DatabasePlace {
  if (store === 'memory:')
    throw new Error('store: is in memory, so there is no database. Configure sqlite:PATH or postgres://….');
  if (!store.startsWith('sqlite:')) return { store: 'postgres', url: store, name: withoutSecrets(store) };
  const path = store.slice('sqlite:'.length);
  return { store: 'sqlite', path, name: path };
}

/**
 * Opens a database to inspect it.
 *
 * @throws {Error} when it does not exist or cannot be read
 */
export async function inspect(place: DatabasePlace): Promise<Inspection> {
  if (place.store === 'postgres') {
    const { inspectPostgres } = await import('@svc/host-kit/stores/postgres');
    return await inspectPostgres({ url: place.url });
  }
  const { path } = place;
  if (!existsSync(path)) throw new Error(`${path}: does not exist. Correct store, or start the host first.`);
  return inspectSqlite(path);
}

function withoutSecrets(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
