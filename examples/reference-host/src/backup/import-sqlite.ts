import { constants, copyFileSync, existsSync, linkSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inspectSqlite } from '@svc/host-kit/stores/sqlite';
import type { Config } from '../config.ts';
import type { Inspection } from './database.ts';
import { forgetHeld, hold } from './held-deliveries.ts';
import { DATABASE, flush, type Manifest } from './manifest.ts';
import { KEY_FILES } from './present-keys.ts';

/** Options of `importSqlite`. */
export interface SqliteImport {
  readonly config: Config;
  /** The place of the database. */
  readonly path: string;
  /** The folder of the backup. */
  readonly folder: string;
  readonly manifest: Manifest;
  /** Pauses every active subscription. */
  readonly holds: boolean;
  /** Called with the database of the backup, before it is put in its place. */
  readonly examine: (inspection: Inspection) => Promise<void>;
}

/** Requires that no database is at a path, and no companion of one. */
export function requireEmptyPlace(path: string): void {
  // SQLite would apply the log of another database to the restored one.
  const found = [path, `${path}-wal`, `${path}-journal`, `${path}-held-deliveries.json`].find(existsSync);
  if (found !== undefined) throw new Error(`${found}: exists. Move it away: a restore replaces nothing.`);
}

/**
 * Puts the SQLite database of a backup in its place, with its keys.
 *
 * @returns the number of subscriptions that were paused; undefined when none should be
 */
export async function importSqlite(options: SqliteImport): Promise<number | undefined> {
  const { config, path, folder, manifest, holds, examine } = options;
  const inspection = inspectSqlite(join(folder, DATABASE));
  try {
    await examine(inspection);
  } finally {
    inspection.close();
  }
  const draft = `${path}.restoring`;
  const drop = () => {
    for (const suffix of ['', '-wal', '-shm', '-journal', '-owner']) rmSync(`${draft}${suffix}`, { force: true });
  };
  // Left by a restore that was interrupted.
  drop();
  try {
    placeKeys(config, path, folder, manifest);
    copyFileSync(join(folder, DATABASE), draft, constants.COPYFILE_EXCL);
    const held = holds ? await hold(draft, path) : undefined;
    flush(draft);
    // A link replaces no database that was created meanwhile, and a complete file appears at once.
    linkSync(draft, path);
    return held;
  } catch (error) {
    if (holds) forgetHeld(path);
    throw error;
  } finally {
    drop();
    flush(dirname(path));
  }
}

/** Copies the keys of the backup beside the database, where the host will look for them. Replaces no key. */
function placeKeys(
  { secretKey, audit, debugBundles }: Config,
  path: string,
  folder: string,
  { files }: Pick<Manifest, 'files'>,
): void {
  const configured = {
    'secret-key': secretKey !== undefined,
    'audit-key.pem': audit.signingKeyFile !== null,
    'bundle-key.pem': debugBundles.signingKeyFile !== null,
  };
  for (const name of Object.keys(KEY_FILES) as (keyof typeof KEY_FILES)[]) {
    const target = `${path}${KEY_FILES[name]}`;
    if (files[name] === undefined || configured[name] || existsSync(target)) continue;
    copyFileSync(join(folder, name), target, constants.COPYFILE_EXCL);
    flush(target);
  }
}
