import { DatabaseSync } from 'node:sqlite';
import { requireKnown } from '../known-options.ts';
import { REPLAY_STORE_OPTIONS, ReplayCapacity } from './capacity.ts';
import { checkedClaim, type ProofClaim } from './proof-claim.ts';
import type { ReplayAnswer, ReplayStore, ReplayStoreOptions } from './replay-store.ts';

export type { ReplayAnswer, ReplayStore, ReplayStoreFull, ReplayStoreOptions } from './replay-store.ts';

/** A replay store in SQLite. */
export interface SqliteReplayStore extends ReplayStore {
  /** Closes the file. A database that the caller passed in stays open. Claims that wait reject. */
  close(): void;
}

/**
 * Makes a replay store in a SQLite file, which several processes of one machine may share. A claim that is answered
 * survives `kill -9`; a loss of power may lose those of the last moment. Claims of one turn of the event loop share a
 * commit. Expired proofs are removed in small steps, as new ones are claimed.
 *
 * @param database the path of a file, or an open database; the store creates the table `svc_dpop_proofs` in it
 * @throws {TypeError} when a clock is not a function, or `maxEntries` is not a whole number of at least 1
 * @throws {Error} when the file cannot be opened
 * @example
 * import { sqliteReplayStore } from '@svc/auth/dpop/sqlite';
 *
 * const replays = sqliteReplayStore('proofs.db');
 */
export function sqliteReplayStore(
  database: string | DatabaseSync,
  options: ReplayStoreOptions = {},
): SqliteReplayStore {
  requireKnown('sqliteReplayStore', options, REPLAY_STORE_OPTIONS);
  const capacity = new ReplayCapacity('sqliteReplayStore', options, options.maxEntries ?? 1_000_000);
  const db = typeof database === 'string' ? opened(database) : database;
  const store = new ProofTable(db, capacity);
  return {
    claim: async (id, expiresAt) => store.claim(checkedClaim(id, expiresAt)),
    close() {
      store.end();
      if (typeof database === 'string') db.close();
    },
  };
}

/** Writes the claims of one turn of the event loop in one transaction. */
class ProofTable {
  readonly #db: DatabaseSync;
  readonly #capacity: ReplayCapacity;
  readonly #insert;
  readonly #find;
  readonly #prune;
  #waiting: Waiting[] = [];
  #isScheduled = false;
  #triedFor = 0;
  #isEnded = false;

  constructor(db: DatabaseSync, capacity: ReplayCapacity) {
    this.#db = db;
    this.#capacity = capacity;
    db.exec(SCHEMA);
    this.#insert = db.prepare(
      `INSERT INTO svc_dpop_proofs (id, expires_at) VALUES (?, ?)
       ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at WHERE expires_at < ?`,
    );
    this.#find = db.prepare('SELECT 1 FROM svc_dpop_proofs WHERE id = ? AND expires_at >= ?');
    this.#prune = db.prepare(
      `DELETE FROM svc_dpop_proofs WHERE id IN
         (SELECT id FROM svc_dpop_proofs WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
    );
    // The proofs of an earlier process take room, too: a host that is restarted again and again keeps its limit.
    const counted = db.prepare(
      'SELECT expires_at / 1000 AS second, count(*) AS count FROM svc_dpop_proofs WHERE expires_at >= ? GROUP BY second',
    );
    for (const { second, count } of counted.all(capacity.horizon())) {
      capacity.add(Number(second) * 1000, Number(count));
    }
  }

  claim(claim: ProofClaim): Promise<ReplayAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#isEnded) return reject(new Error('replays: the store is closed.'));
      if (this.#waiting.length >= MOST_WAITING) return reject(new Error('replays: too many claims wait for the file.'));
      this.#waiting.push({ id: Buffer.from(claim.id, 'hex'), expiresAt: claim.expiresAt, resolve, reject });
      this.#schedule(0);
    });
  }

  end(): void {
    this.#isEnded = true;
    this.#refuseAll(new Error('replays: the store is closed.'));
  }

  #schedule(afterMs: number): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    if (afterMs === 0) setImmediate(() => this.#write());
    else setTimeout(() => this.#write(), afterMs);
  }

  #write(): void {
    this.#isScheduled = false;
    const batch = this.#waiting.splice(0, MOST_AT_ONCE);
    if (batch.length === 0) return;
    try {
      const answers = this.#committed(batch);
      this.#triedFor = 0;
      for (const [index, { resolve, reject }] of batch.entries()) {
        const answer = answers[index];
        if (answer === undefined) reject(new Error('replays: a claim has no answer.'));
        else resolve(answer);
      }
    } catch (error) {
      this.#retryOrReject(batch, error);
    }
    if (this.#waiting.length > 0) this.#schedule(0);
  }

  #committed(batch: readonly Waiting[]): readonly ReplayAnswer[] {
    const horizon = this.#capacity.horizon();
    const room = this.#capacity.room(horizon);
    const fresh: number[] = [];
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const answers = batch.map(({ id, expiresAt }): ReplayAnswer => {
        if (fresh.length >= room) return this.#find.get(id, horizon) === undefined ? 'full' : 'seen';
        if (this.#insert.run(id, expiresAt, horizon).changes === 0) return 'seen';
        fresh.push(expiresAt);
        return 'fresh';
      });
      this.#prune.run(horizon, 2 * batch.length + 10);
      this.#db.exec('COMMIT');
      for (const expiresAt of fresh) this.#capacity.add(expiresAt);
      if (answers.includes('full')) this.#capacity.tellFull();
      return answers;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  /** Another process may hold the lock. The event loop must not wait for it, so the batch is tried again later. */
  #retryOrReject(batch: readonly Waiting[], error: unknown): void {
    if (!isBusy(error) || this.#triedFor >= BUSY_MS || this.#isEnded) {
      this.#triedFor = 0;
      for (const { reject } of batch) reject(error);
      return;
    }
    this.#waiting.unshift(...batch);
    const pause = Math.min(MOST_PAUSE_MS, 1 + this.#triedFor);
    this.#triedFor += pause;
    this.#schedule(pause);
  }

  #refuseAll(error: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}

interface Waiting {
  readonly id: Buffer;
  readonly expiresAt: number;
  readonly resolve: (answer: ReplayAnswer) => void;
  readonly reject: (error: unknown) => void;
}

const MOST_AT_ONCE = 500;
const MOST_WAITING = 10_000;
/** The longest wait for the lock of another process. */
const BUSY_MS = 2000;
const MOST_PAUSE_MS = 20;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS svc_dpop_proofs (
    id BLOB PRIMARY KEY, expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS svc_dpop_proofs_expiry ON svc_dpop_proofs (expires_at);
`;

/** The numeric code of SQLite, without its extension. */
function isBusy(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'errcode' in error && (Number(error.errcode) & 0xff) === 5;
}

function opened(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  // The timeout comes first: switching to WAL waits for a process that opens the same file, instead of failing.
  db.exec(
    'PRAGMA busy_timeout = 5000; PRAGMA page_size = 1024; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;',
  );
  // Ids are random, so each claim writes a page of its own: small ones make checkpoints rare, which wait for the disk.
  db.exec('PRAGMA wal_autocheckpoint = 8000;');
  db.exec(SCHEMA);
  db.exec('PRAGMA busy_timeout = 0;');
  return db;
}
