import type { DatabaseSync } from 'node:sqlite';
import type { Begun, IdempotencyStore } from '../../ports/idempotency.ts';
import { keptReplyOf, keyColumns, standingOf } from '../sql/idempotency.ts';
import type { Writer } from './writer.ts';

const KEY = 'tenant = ? AND mode = ? AND operation = ? AND key_hash = ?';
const OF_CLAIM = `${KEY} AND owner = ? AND sealed IS NULL`;
const FIND = `SELECT * FROM idempotency_keys WHERE ${KEY}`;
const CLAIM = `INSERT INTO idempotency_keys
  (tenant, mode, operation, key_hash, owner, digest, lease_until, expires_at, sealed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)
  ON CONFLICT (tenant, mode, operation, key_hash) DO UPDATE SET
  owner = excluded.owner, digest = excluded.digest, lease_until = excluded.lease_until, expires_at = excluded.expires_at,
  sealed = NULL`;
const COMPLETE = `UPDATE idempotency_keys SET sealed = ?, expires_at = ? WHERE ${OF_CLAIM}`;
const RELEASE = `DELETE FROM idempotency_keys WHERE ${OF_CLAIM}`;
const SWEEP = `DELETE FROM idempotency_keys WHERE (tenant, mode, operation, key_hash) IN
  (SELECT tenant, mode, operation, key_hash FROM idempotency_keys INDEXED BY idempotency_keys_expiring
   WHERE expires_at <= ? LIMIT ?)`;
const PAGE = `SELECT * FROM idempotency_keys
  WHERE (tenant, mode, operation, key_hash) > (?, ?, ?, ?) AND sealed IS NOT NULL
  ORDER BY tenant, mode, operation, key_hash LIMIT ?`;
const RESEAL = `UPDATE idempotency_keys SET sealed = ? WHERE ${KEY} AND sealed = ?`;

export function idempotencyStore(reader: DatabaseSync, database: DatabaseSync, writer: Writer): IdempotencyStore {
  const look = reader.prepare(FIND);
  const find = database.prepare(FIND);
  const claimKey = database.prepare(CLAIM);
  const complete = database.prepare(COMPLETE);
  const release = database.prepare(RELEASE);
  const sweep = database.prepare(SWEEP);
  const page = reader.prepare(PAGE);
  const reseal = database.prepare(RESEAL);

  return {
    async begin(claim, options) {
      const key = keyColumns(claim);
      // A stored reply does not change, so a repeated request can be answered without waiting for the writer.
      const known = look.get(...key);
      const kept = known === undefined ? undefined : standingOf(known, options);
      if (kept?.kind === 'completed') return kept;
      return writer.transaction(async (): Promise<Begun> => {
        const row = find.get(...key);
        const standing = row === undefined ? undefined : standingOf(row, options);
        if (standing !== undefined) return standing;
        const { digest, leaseUntil, expiresAt } = options;
        claimKey.run(...key, claim.owner, digest, leaseUntil, expiresAt);
        return { kind: 'claimed' };
      });
    },
    async complete(claim, { sealed, expiresAt }, transaction) {
      writer.require(transaction);
      return complete.run(sealed, expiresAt, ...keyColumns(claim), claim.owner).changes > 0;
    },
    release(claim) {
      return writer.transaction(async () => {
        release.run(...keyColumns(claim), claim.owner);
      });
    },
    sweep(now, limit) {
      return writer.transaction(async () => Number(sweep.run(now, limit).changes));
    },
    async page({ after, limit }) {
      const from = after === undefined ? FIRST : keyColumns(after);
      return page.all(...from, limit).map(keptReplyOf);
    },
    async reseal(reply, sealed, transaction) {
      writer.require(transaction);
      reseal.run(sealed, ...keyColumns(reply), reply.sealed);
    },
  };
}

/** Sorts before every key. */
const FIRST = ['', '', '', ''];
