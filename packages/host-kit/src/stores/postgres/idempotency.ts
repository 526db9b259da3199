import type { Begun, IdempotencyStore } from '../../ports/idempotency.ts';
import { keptReplyOf, keyColumns, standingOf } from '../sql/idempotency.ts';
import { text } from '../sql/row.ts';
import type { Database } from './database.ts';

const KEY = 'tenant = $1 AND mode = $2 AND operation = $3 AND key_hash = $4';
const OF_CLAIM = `${KEY} AND owner = $5 AND sealed IS NULL`;
const FIND = { name: 'idempotency-find', text: `SELECT * FROM idempotency_keys WHERE ${KEY}` };
const CLAIM = {
  name: 'idempotency-claim',
  text: `INSERT INTO idempotency_keys (tenant, mode, operation, key_hash, owner, digest, lease_until, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (tenant, mode, operation, key_hash) DO NOTHING`,
};
// Succeeds only if the row still has the owner and state that were read: of several that read the same, one takes over.
const TAKE_OVER = {
  name: 'idempotency-take-over',
  text: `UPDATE idempotency_keys SET owner = $5, digest = $6, lease_until = $7, expires_at = $8, sealed = NULL
    WHERE ${KEY} AND owner = $9 AND (sealed IS NULL OR expires_at <= $10)`,
};
const COMPLETE = {
  name: 'idempotency-complete',
  text: `UPDATE idempotency_keys SET sealed = $6, expires_at = $7 WHERE ${OF_CLAIM}`,
};
const RELEASE = { name: 'idempotency-release', text: `DELETE FROM idempotency_keys WHERE ${OF_CLAIM}` };
const SWEEP = {
  name: 'idempotency-sweep',
  text: `DELETE FROM idempotency_keys WHERE (tenant, mode, operation, key_hash) IN
    (SELECT tenant, mode, operation, key_hash FROM idempotency_keys WHERE expires_at <= $1
     ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
};
const PAGE = {
  name: 'idempotency-page',
  text: `SELECT * FROM idempotency_keys
    WHERE (tenant, mode, operation, key_hash) > ($1, $2, $3, $4) AND sealed IS NOT NULL
    ORDER BY tenant, mode, operation, key_hash LIMIT $5`,
};
const RESEAL = {
  name: 'idempotency-reseal',
  text: `UPDATE idempotency_keys SET sealed = $5 WHERE ${KEY} AND sealed = $6`,
};

export function idempotencyStore(database: Database): IdempotencyStore {
  return {
    async begin(claim, options) {
      const { digest, now, leaseUntil, expiresAt } = options;
      const key = keyColumns(claim);
      const values = [...key, claim.owner, digest, leaseUntil, expiresAt];
      for (let round = 0; round < ROUNDS; round++) {
        if ((await database.query(CLAIM, values)).count > 0) return CLAIMED;
        const row = (await database.query(FIND, key)).rows[0];
        // The key was released or swept between the two statements.
        if (row === undefined) continue;
        const standing = standingOf(row, options);
        if (standing !== undefined) return standing;
        if ((await database.query(TAKE_OVER, [...values, text(row, 'owner'), now])).count > 0) return CLAIMED;
      }
      // Another owner was faster each time.
      return { kind: 'in-flight', leaseUntil };
    },
    async complete(claim, { sealed, expiresAt }, transaction) {
      const values = [...keyColumns(claim), claim.owner, Buffer.from(sealed), expiresAt];
      return (await database.within(transaction, COMPLETE, values)).count > 0;
    },
    async release(claim) {
      await database.query(RELEASE, [...keyColumns(claim), claim.owner]);
    },
    sweep: async (now, limit) => (await database.query(SWEEP, [now, limit])).count,
    async page({ after, limit }) {
      const from = after === undefined ? FIRST : keyColumns(after);
      return (await database.query(PAGE, [...from, limit])).rows.map(keptReplyOf);
    },
    async reseal(reply, sealed, transaction) {
      const values = [...keyColumns(reply), Buffer.from(sealed), Buffer.from(reply.sealed)];
      await database.within(transaction, RESEAL, values);
    },
  };
}

const CLAIMED: Begun = { kind: 'claimed' };
/** Number of tries to claim a key that others claim and release at the same time. */
const ROUNDS = 5;
/** Sorts before every key. */
const FIRST = ['', '', '', ''];
