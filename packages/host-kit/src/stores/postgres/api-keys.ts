import type { Tenancy } from '@svc/auth';
import type { ApiKeyFeed, ApiKeyStore, StoredApiKey } from '../../ports/api-keys.ts';
import type { Transaction } from '../../ports/transaction.ts';
import type { PassedOver } from '../passed-over.ts';
import { grantsOf, quotaCountOf } from '../sql/api-key-quotas.ts';
import { API_KEYS, apiKeyColumns, apiKeyOf, INDEXED, stateCondition } from '../sql/api-keys.ts';
import { text } from '../sql/row.ts';
import { announce } from './api-key-feed.ts';
import type { Database } from './database.ts';

const ADD = {
  name: 'api-keys-add',
  text: `INSERT INTO api_keys (id, lookup, hash, tenant, mode, principal, source, workspaces, expires_at, revoked_at, record)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING`,
};
const READ = { name: 'api-keys-read', text: 'SELECT * FROM api_keys WHERE id = $1 FOR UPDATE' };
const REPLACE = {
  name: 'api-keys-replace',
  text: `WITH before AS (SELECT lookup FROM api_keys WHERE id = $1)
    UPDATE api_keys SET lookup = $2, hash = $3, tenant = $4, mode = $5, principal = $6, source = $7, workspaces = $8,
      expires_at = $9, revoked_at = $10, record = $11, expiry_noted = false WHERE id = $1
    RETURNING (SELECT lookup FROM before) AS lookup`,
};
const REMOVE = { name: 'api-keys-remove', text: 'DELETE FROM api_keys WHERE id = $1 RETURNING lookup' };
const CANDIDATES = { name: 'api-keys-candidates', text: 'SELECT * FROM api_keys WHERE lookup = ANY($1)' };
/** `$3` is null for a caller that reaches every workspace, else a JSON list. */
const REACHED = `tenant = $1 AND mode = $2 AND ($3::jsonb IS NULL OR
  (jsonb_typeof(workspaces) = 'array' AND workspaces <@ $3::jsonb))`;
const FIND = { name: 'api-keys-find', text: `SELECT * FROM api_keys WHERE ${REACHED} AND id = $4` };
const list = (state: Parameters<typeof stateCondition>[0]) => ({
  name: `api-keys-list-${state ?? 'any'}`,
  text: `SELECT * FROM api_keys WHERE ${REACHED} AND id > $4 AND ($5::text IS NULL OR principal = $5)
    AND $6::bigint IS NOT NULL AND ${stateCondition(state, '$6')} ORDER BY id LIMIT $7`,
});
const CONFIGURED = { name: 'api-keys-configured', text: `SELECT * FROM api_keys WHERE source = 'configuration'` };
const USED = {
  name: 'api-keys-used',
  text: `UPDATE api_keys k SET last_used_at = t.time FROM
      (SELECT o.id, o.last_used_at AS before, u.time FROM
        unnest($1::text[], $2::bigint[]) AS u (id, time) JOIN api_keys o ON o.id = u.id
        WHERE o.last_used_at IS NULL OR o.last_used_at < u.time ORDER BY o.id FOR UPDATE OF o) t
    WHERE k.id = t.id RETURNING k.*, t.before IS NULL AS is_first`,
};
const UNNOTED = {
  name: 'api-keys-unnoted',
  text: `SELECT * FROM api_keys WHERE expires_at IS NOT NULL AND NOT expiry_noted AND ${stateCondition('expired', '$1::bigint')} LIMIT $2`,
};
const NOTE = {
  name: 'api-keys-note',
  text: 'UPDATE api_keys SET expiry_noted = true WHERE id = $1 AND expires_at = $2 AND NOT expiry_noted',
};
/** Each names the rows in one order, so that two hosts do not wait for each other in a circle. */
const MAKE_COUNTS = {
  name: 'api-key-quotas-make',
  text: `INSERT INTO api_key_quotas (account, period, starts_at, taken, used)
    SELECT account, 'day', 0, 0, 0 FROM unnest($1::text[]) AS asked (account) ORDER BY account COLLATE "C"
    ON CONFLICT DO NOTHING`,
};
const HOLD_COUNTS = {
  name: 'api-key-quotas-hold',
  text: 'SELECT * FROM api_key_quotas WHERE account = ANY($1) ORDER BY account FOR UPDATE',
};
const SET_COUNTS = {
  name: 'api-key-quotas-set',
  text: `UPDATE api_key_quotas q SET period = n.period, starts_at = n.starts_at, taken = n.taken, used = n.used
    FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[]) AS n (account, period, starts_at, taken, used)
    WHERE q.account = n.account`,
};
/** The condition stands twice: a draw may have begun a new period after the inner query has read the count. */
const SWEEP_COUNTS = {
  name: 'api-key-quotas-sweep',
  text: `WITH ended AS MATERIALIZED (SELECT account FROM api_key_quotas
      WHERE (period = 'day' AND starts_at < $1) OR (period = 'month' AND starts_at < $2) LIMIT $3 FOR UPDATE SKIP LOCKED)
    DELETE FROM api_key_quotas q USING ended WHERE q.account = ended.account
      AND ((q.period = 'day' AND q.starts_at < $1) OR (q.period = 'month' AND q.starts_at < $2))`,
};
const COUNTS = { name: 'api-key-quotas-read', text: 'SELECT * FROM api_key_quotas WHERE account = ANY($1)' };

export function apiKeyStore(
  database: Database,
  { schema, feed, passedOver }: { readonly schema: string; readonly feed: ApiKeyFeed; readonly passedOver: PassedOver },
): ApiKeyStore {
  const announceAll = (subject: string, lookups: ReadonlySet<string>, transaction: Transaction): void => {
    for (const lookup of lookups) announce(database, { schema, lookup, subject }, transaction);
  };

  return {
    feed,
    async add(key, transaction) {
      return (await database.within(transaction, ADD, apiKeyColumns(key))).count > 0;
    },
    async readForChange(id, transaction) {
      const [row] = (await database.within(transaction, READ, [id])).rows;
      return row && apiKeyOf(row);
    },
    async replace(key, transaction) {
      const [row] = (await database.within(transaction, REPLACE, apiKeyColumns(key))).rows;
      if (row === undefined) return;
      announceAll(key.id, new Set([text(row, 'lookup'), key.hash.slice(0, INDEXED)]), transaction);
    },
    async remove(id, transaction) {
      const [row] = (await database.within(transaction, REMOVE, [id])).rows;
      if (row !== undefined) announceAll(id, new Set([text(row, 'lookup')]), transaction);
    },
    async candidates(hashes) {
      const { rows } = await database.query(CANDIDATES, [hashes.map((hash) => hash.slice(0, INDEXED))]);
      return passedOver.all(API_KEYS, rows);
    },
    async find(tenancy, id) {
      const [row] = (await database.query(FIND, [...reachOf(tenancy), id])).rows;
      return row && apiKeyOf(row);
    },
    list: (tenancy, { after, limit, state, principal, now }) =>
      passedOver.page(API_KEYS, { after, limit }, async (from, most) => {
        const values = [...reachOf(tenancy), from, principal ?? null, Math.trunc(now), most];
        return (await database.query(list(state), values)).rows;
      }),
    configured: async () => passedOver.all(API_KEYS, (await database.query(CONFIGURED, [])).rows),
    async used(times, transaction) {
      const values = [[...times.keys()], [...times.values()].map(Math.trunc)];
      const { rows } = await database.within(transaction, USED, values);
      const first = rows.filter((row) => row.is_first === true);
      return passedOver.all(API_KEYS, first);
    },
    async unnotedExpiries(now, limit): Promise<readonly StoredApiKey[]> {
      // Those that are passed over stay due, and must not hide the others.
      const { rows } = await database.query(UNNOTED, [Math.trunc(now), limit + passedOver.count('api-key')]);
      return passedOver.all(API_KEYS, rows).slice(0, limit);
    },
    async noteExpiry({ id, expiresAt }, transaction) {
      return (await database.within(transaction, NOTE, [id, expiresAt ?? null])).count > 0;
    },
    async draw(draws, transaction) {
      const accounts = [...new Set(draws.map(({ account }) => account))];
      let { rows } = await database.within(transaction, HOLD_COUNTS, [accounts]);
      // A sweep may delete a count between the two. An account that is not held must not be drawn on.
      for (let rounds = 0; rows.length < accounts.length; rounds++) {
        if (rounds === MOST_ROUNDS) throw new Error('The counts of quotas were deleted meanwhile. Try again.');
        await database.within(transaction, MAKE_COUNTS, [accounts]);
        rows = (await database.within(transaction, HOLD_COUNTS, [accounts])).rows;
      }
      const counts = new Map(rows.map((row) => [text(row, 'account'), quotaCountOf(row)]));
      const grants = grantsOf(draws, counts);
      const all = [...counts];
      await database.within(transaction, SET_COUNTS, [
        all.map(([account]) => account),
        all.map(([, { period }]) => period),
        all.map(([, { startsAt }]) => startsAt),
        all.map(([, { taken }]) => taken),
        all.map(([, { used }]) => used),
      ]);
      return grants;
    },
    async sweepCounts({ day, month }, limit) {
      return (await database.query(SWEEP_COUNTS, [day, month, limit])).count;
    },
    async quotaCounts(accounts) {
      const { rows } = await database.query(COUNTS, [accounts]);
      return new Map(rows.map((row) => [text(row, 'account'), quotaCountOf(row)]));
    },
  };
}

const MOST_ROUNDS = 5;

function reachOf({ tenant, mode, workspaces }: Tenancy): unknown[] {
  return [tenant, mode, workspaces === 'all' ? null : JSON.stringify(workspaces)];
}
