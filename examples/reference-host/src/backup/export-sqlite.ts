import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspectSqlite } from '@svc/host-kit/stores/sqlite';
import type { Inspection } from './database.ts';
import { DATABASE, flush, type Manifest } from './manifest.ts';

/** A database in the folder of a backup. */
export interface Exported {
  /** Of the state that is in the backup. The caller closes it. */
  readonly inspection: Inspection;
  /** The files that were written. */
  readonly names: readonly (keyof Manifest['files'])[];
  /** The part of the manifest that describes the database. */
  readonly database:
    | { readonly store: 'sqlite' }
    | Pick<Extract<Manifest, { readonly store: 'postgres' }>, 'store' | 'tables' | 'sequences'>;
}

/** Copies an SQLite database into a folder. */
export function exportSqlite(path: string, folder: string): Exported {
  const copy = join(folder, DATABASE);
  // Made first, so that no other account can read the copy while it is written. SQLite accepts an empty file.
  writeFileSync(copy, '', { mode: 0o600, flag: 'wx' });
  const source = inspectSqlite(path);
  try {
    source.copyTo(copy);
  } finally {
    source.close();
  }
  flush(copy);
  return { inspection: inspectSqlite(copy), names: [DATABASE], database: { store: 'sqlite' } };
}
