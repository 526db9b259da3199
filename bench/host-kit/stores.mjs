import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { postgresStore } from '@svc/host-kit/stores/postgres';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { startPostgres } from '../../tools/postgres.ts';

const CONNECTIONS = 20;

/** Prepares both durable stores: SQLite on the machine's own disk, and a real PostgreSQL. */
export async function startStores() {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const postgres = await startPostgres({ flushes: true });
  return {
    /** Returns the place of a new store for a name. Any process can open it with `openStore`. */
    places: {
      SQLite: (name) => ({ kind: 'sqlite', path: join(folder, `${name}.db`) }),
      PostgreSQL: (name) => ({ kind: 'postgres', url: postgres.url, schema: `svc_${name}` }),
    },
    async stop() {
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Opens the store at a place. */
export async function openStore(place) {
  if (place.kind === 'sqlite') return sqliteStore(place.path);
  return postgresStore({ url: place.url, schema: place.schema, connections: CONNECTIONS });
}
