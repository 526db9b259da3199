import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { type DedupOptions, type DedupStore, dedupTimes } from './dedup.ts';

export interface SqliteDedupStore extends DedupStore {
  /** Closes the file. A database that was passed in stays open. */
  close(): void;
}

/**
 * Deduplication in a SQLite file, which several processes of one machine may share. What was confirmed survives a crash.
 *
 * @param database a file's path, or an open database in which one table, `svc_webhook_dedup`, is made
 * @throws {TypeError} for a time that is not positive
 * @example
 * const dedup = sqliteDedupStore('deliveries.db');
 */
export function sqliteDedupStore(database: string | DatabaseSync, options: DedupOptions = {}): SqliteDedupStore {
  const { ttlMs, claimMs, now } = dedupTimes(options);
  const db = typeof database === 'string' ? opened(database) : database;
  db.exec(SCHEMA);
  const claim = db.prepare(
    `INSERT INTO svc_webhook_dedup (key, token, until) VALUES (?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET token = excluded.token, until = excluded.until WHERE until <= ?`,
  );
  const look = db.prepare('SELECT token FROM svc_webhook_dedup WHERE key = ?');
  const confirm = db.prepare(
    `INSERT INTO svc_webhook_dedup (key, token, until) VALUES (?, NULL, ?)
     ON CONFLICT (key) DO UPDATE SET token = NULL, until = excluded.until WHERE token = ? OR until <= ?`,
  );
  const release = db.prepare('DELETE FROM svc_webhook_dedup WHERE key = ? AND token = ?');
  const prune = db.prepare(
    'DELETE FROM svc_webhook_dedup WHERE key IN (SELECT key FROM svc_webhook_dedup WHERE until <= ? LIMIT 100)',
  );
  let claims = 0;

  return {
    claim(key) {
      claims += 1;
      // More is forgotten than is remembered, in steps that nobody notices.
      if (claims % 50 === 0) prune.run(now());
      const token = randomUUID();
      if (claim.run(key, token, now() + claimMs, now()).changes > 0) return { state: 'claimed', token };
      const row = look.get(key);
      // Released between the two statements: as good as in flight, the sender comes again.
      return { state: row !== undefined && row.token === null ? 'handled' : 'in-flight' };
    },
    confirm(key, token) {
      confirm.run(key, now() + ttlMs, token, now());
    },
    release(key, token) {
      release.run(key, token);
    },
    close() {
      if (typeof database === 'string') db.close();
    },
  };
}

/** A row without a token is a delivery that was handled. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS svc_webhook_dedup (
    key TEXT PRIMARY KEY, token TEXT, until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS svc_webhook_dedup_until ON svc_webhook_dedup (until);
`;

function opened(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  // The timeout comes first: switching to WAL waits for a process that opens the same file, instead of failing.
  db.exec('PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  return db;
}
