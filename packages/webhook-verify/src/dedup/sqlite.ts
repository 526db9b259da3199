import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { requireKnown } from '../known-options.ts';
import { DEDUP_OPTIONS, type DedupOptions, dedupTimes, type ProlongingDedupStore } from './dedup.ts';

/** A dedup store in SQLite. */
export interface SqliteDedupStore extends ProlongingDedupStore {
  /** Closes the file. A database that the caller passed in stays open. */
  close(): void;
}

/**
 * Makes a dedup store in a SQLite file, which several processes of one machine may share. Confirmed deliveries survive
 * a crash.
 *
 * @param database the path of a file, or an open database; the store creates the table `svc_webhook_dedup` in it
 * @throws {TypeError} when a time is not positive
 * @throws {Error} when the file cannot be opened
 * @example
 * import { sqliteDedupStore } from '@svc/webhook-verify/dedup/sqlite';
 *
 * const dedup = sqliteDedupStore('deliveries.db', { ttlSeconds: 604_800 });
 */
export function sqliteDedupStore(database: string | DatabaseSync, options: DedupOptions = {}): SqliteDedupStore {
  requireKnown('sqliteDedupStore', options, DEDUP_OPTIONS);
  const { ttlMs, claimMs } = dedupTimes(options);
  const { now = Date.now } = options;
  const db = typeof database === 'string' ? opened(database) : withTable(database);
  const claim = db.prepare(
    `INSERT INTO svc_webhook_dedup (key, token, until) VALUES (?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET token = excluded.token, until = excluded.until
       WHERE until <= ? OR (token IS NOT NULL AND until > ?)`,
  );
  const look = db.prepare('SELECT token, until FROM svc_webhook_dedup WHERE key = ?');
  const confirm = db.prepare(
    `INSERT INTO svc_webhook_dedup (key, token, until) VALUES (?, NULL, ?)
     ON CONFLICT (key) DO UPDATE SET token = NULL, until = excluded.until WHERE token = ? OR until <= ?`,
  );
  const prolong = db.prepare('UPDATE svc_webhook_dedup SET until = ? WHERE key = ? AND token = ?');
  const release = db.prepare('DELETE FROM svc_webhook_dedup WHERE key = ? AND token = ?');
  const prune = db.prepare(
    'DELETE FROM svc_webhook_dedup WHERE key IN (SELECT key FROM svc_webhook_dedup WHERE until <= ? LIMIT 100)',
  );
  let claims = 0;

  return {
    claim(key) {
      claims += 1;
      // Prunes up to 100 expired rows every 50 claims, so that the table shrinks and no claim waits long.
      if (claims % 50 === 0) prune.run(now());
      const token = randomUUID();
      const time = now();
      const latest = time + claimMs + LONGEST_WAIT_MS;
      if (claim.run(key, token, time + claimMs, time, latest).changes > 0) {
        return { state: 'claimed', token, claimSeconds: claimMs / 1000 };
      }
      const row = look.get(key);
      // A row that is gone was released between the two statements. In flight is safe: the sender tries again.
      if (row === undefined) return { state: 'in-flight', secondsLeft: 0 };
      if (row.token === null) return { state: 'handled' };
      return { state: 'in-flight', secondsLeft: (Number(row.until) - time) / 1000 };
    },
    confirm(key, token) {
      confirm.run(key, now() + ttlMs, token, now());
    },
    release(key, token) {
      release.run(key, token);
    },
    prolong(key, token) {
      return prolong.run(now() + claimMs, key, token).changes > 0;
    },
    close() {
      if (typeof database === 'string') db.close();
    },
  };
}

/**
 * A claim that ends this much later than one that begins now was stamped before the clock was set back. It is over. One
 * that ends a little later was stamped by another process while this one waited for the lock, and holds.
 */
const LONGEST_WAIT_MS = 60_000;

/** The table. A row without a token is a handled delivery. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS svc_webhook_dedup (
    key TEXT PRIMARY KEY, token TEXT, until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS svc_webhook_dedup_until ON svc_webhook_dedup (until);
`;

/** Opens a file. While it is opened, a statement waits up to 30 s for a lock, because other processes may write without a pause. */
function opened(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  db.exec('PRAGMA busy_timeout = 30000');
  switchToWal(db);
  db.exec('PRAGMA synchronous = FULL');
  db.exec(SCHEMA);
  db.exec('PRAGMA busy_timeout = 5000');
  return db;
}

function withTable(db: DatabaseSync): DatabaseSync {
  db.exec(SCHEMA);
  return db;
}

/**
 * When several processes open a new file at once, SQLite refuses the switch of one of them without waiting: each holds a
 * lock that the other needs. So the switch is repeated, for as long as the other statements wait.
 */
function switchToWal(db: DatabaseSync): void {
  for (let attempt = 1; ; attempt++) {
    try {
      db.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusy(error) || attempt === MOST_SWITCHES) throw error;
      Atomics.wait(NEVER, 0, 0, SWITCH_PAUSE_MS);
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}

const SQLITE_BUSY = 5;
const SWITCH_PAUSE_MS = 10;
const MOST_SWITCHES = 3000;
const NEVER = new Int32Array(new SharedArrayBuffer(4));
