import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { Tenancy } from '@svc/auth';
import type { ApiKeyStore, QuotaCount } from '../../ports/api-keys.ts';
import type { PassedOver } from '../passed-over.ts';
import { grantsOf, quotaCountOf } from '../sql/api-key-quotas.ts';
import { API_KEYS, apiKeyColumns, apiKeyOf, INDEXED, stateCondition } from '../sql/api-keys.ts';
import { text } from '../sql/row.ts';
import type { Writer } from './writer.ts';

const ADD = `INSERT OR IGNORE INTO api_keys (id, lookup, hash, tenant, mode, principal, source, workspaces, expires_at,
  revoked_at, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const READ = 'SELECT * FROM api_keys WHERE id = ?';
const REPLACE = `UPDATE api_keys SET lookup = ?2, hash = ?3, tenant = ?4, mode = ?5, principal = ?6, source = ?7,
  workspaces = ?8, expires_at = ?9, revoked_at = ?10, record = ?11, expiry_noted = 0 WHERE id = ?1`;
const REMOVE = 'DELETE FROM api_keys WHERE id = ?';
const CANDIDATES = 'SELECT * FROM api_keys WHERE lookup IN (SELECT value FROM json_each(?))';
/** `?3` is null for a caller that reaches every workspace, else a JSON list. */
const REACHED = `tenant = ?1 AND mode = ?2 AND (?3 IS NULL OR (json_type(workspaces) = 'array' AND NOT EXISTS (
  SELECT 1 FROM json_each(workspaces) WHERE value NOT IN (SELECT value FROM json_each(?3)))))`;
const FIND = `SELECT * FROM api_keys WHERE ${REACHED} AND id = ?4`;
const list = (state: Parameters<typeof stateCondition>[0]) => `SELECT * FROM api_keys WHERE ${REACHED} AND id > ?4
  AND (?5 IS NULL OR principal = ?5) AND ?6 IS NOT NULL AND ${stateCondition(state, '?6')} ORDER BY id LIMIT ?7`;
const CONFIGURED = `SELECT * FROM api_keys WHERE source = 'configuration'`;
const USED = 'UPDATE api_keys SET last_used_at = ?2 WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at < ?2)';
const UNNOTED = `SELECT * FROM api_keys WHERE expires_at IS NOT NULL AND expiry_noted = 0 AND
  ${stateCondition('expired', '?1')} LIMIT ?2`;
const NOTE = 'UPDATE api_keys SET expiry_noted = 1 WHERE id = ? AND expires_at = ? AND expiry_noted = 0';
const COUNT = 'SELECT * FROM api_key_quotas WHERE account = ?';
const COUNTS = 'SELECT * FROM api_key_quotas WHERE account IN (SELECT value FROM json_each(?))';
const SET_COUNT =
  'INSERT OR REPLACE INTO api_key_quotas (account, period, starts_at, taken, used) VALUES (?, ?, ?, ?, ?)';
const SWEEP_COUNTS = `DELETE FROM api_key_quotas WHERE account IN (SELECT account FROM api_key_quotas
  WHERE (period = 'day' AND starts_at < ?1) OR (period = 'month' AND starts_at < ?2) LIMIT ?3)`;

export function apiKeyStore(
  reader: DatabaseSync,
  database: DatabaseSync,
  { writer, passedOver }: { readonly writer: Writer; readonly passedOver: PassedOver },
): ApiKeyStore {
  const [add, readNow, replace] = [database.prepare(ADD), database.prepare(READ), database.prepare(REPLACE)];
  const [remove, setUsed, note] = [database.prepare(REMOVE), database.prepare(USED), database.prepare(NOTE)];
  const [candidates, find, configured] = [reader.prepare(CANDIDATES), reader.prepare(FIND), reader.prepare(CONFIGURED)];
  const unnoted = reader.prepare(UNNOTED);
  const [countNow, setCount, counts] = [database.prepare(COUNT), database.prepare(SET_COUNT), reader.prepare(COUNTS)];
  const sweepCounts = database.prepare(SWEEP_COUNTS);
  const lists = {
    active: reader.prepare(list('active')),
    expired: reader.prepare(list('expired')),
    revoked: reader.prepare(list('revoked')),
    any: reader.prepare(list(undefined)),
  };

  return {
    async add(key, transaction) {
      writer.require(transaction);
      return add.run(...apiKeyColumns(key)).changes > 0;
    },
    async readForChange(id, transaction) {
      writer.require(transaction);
      const row = readNow.get(id);
      return row && apiKeyOf(row);
    },
    async replace(key, transaction) {
      writer.require(transaction);
      replace.run(...apiKeyColumns(key));
    },
    async remove(id, transaction) {
      writer.require(transaction);
      remove.run(id);
    },
    async candidates(hashes) {
      const lookups = JSON.stringify(hashes.map((hash) => hash.slice(0, INDEXED)));
      return passedOver.all(API_KEYS, candidates.all(lookups));
    },
    async find(tenancy, id) {
      const row = find.get(...reachOf(tenancy), id);
      return row && apiKeyOf(row);
    },
    list: (tenancy, { after, limit, state, principal, now }) =>
      passedOver.page(API_KEYS, { after, limit }, (from, most) =>
        lists[state ?? 'any'].all(...reachOf(tenancy), from, principal ?? null, now, most),
      ),
    configured: async () => passedOver.all(API_KEYS, configured.all()),
    async used(times, transaction) {
      writer.require(transaction);
      const first = [];
      for (const [id, time] of times) {
        const before = readNow.get(id);
        const changed = setUsed.run(id, Math.trunc(time)).changes > 0;
        if (changed && before?.last_used_at === null) first.push({ ...before, last_used_at: Math.trunc(time) });
      }
      return passedOver.all(API_KEYS, first);
    },
    async unnotedExpiries(now, limit) {
      // Those that are passed over stay due, and must not hide the others.
      const rows = unnoted.all(now, limit + passedOver.count('api-key'));
      return passedOver.all(API_KEYS, rows).slice(0, limit);
    },
    async noteExpiry({ id, expiresAt }, transaction) {
      writer.require(transaction);
      return note.run(id, expiresAt ?? null).changes > 0;
    },
    async draw(draws, transaction) {
      writer.require(transaction);
      const before = new Map<string, QuotaCount>();
      for (const { account } of draws) {
        const row = countNow.get(account);
        if (row !== undefined) before.set(account, quotaCountOf(row));
      }
      const grants = grantsOf(draws, before);
      for (const [account, { period, startsAt, taken, used }] of before) {
        setCount.run(account, period, startsAt, taken, used);
      }
      return grants;
    },
    sweepCounts: ({ day, month }, limit) =>
      writer.transaction(async () => Number(sweepCounts.run(day, month, limit).changes)),
    async quotaCounts(accounts) {
      const rows = counts.all(JSON.stringify(accounts));
      return new Map(rows.map((row) => [text(row, 'account'), quotaCountOf(row)]));
    },
  };
}

function reachOf({ tenant, mode, workspaces }: Tenancy): SQLInputValue[] {
  return [tenant, mode, workspaces === 'all' ? null : JSON.stringify(workspaces)];
}
