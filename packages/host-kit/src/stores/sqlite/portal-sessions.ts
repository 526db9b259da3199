import type { DatabaseSync } from 'node:sqlite';
import type { Tenancy } from '@svc/auth';
import { DIGEST_INDEXED, type PortalSessionStore } from '../../ports/portal-sessions.ts';
import { portalSessionColumns, portalSessionOf } from '../sql/portal-sessions.ts';
import { integer } from '../sql/row.ts';
import type { Writer } from './writer.ts';

const INSERT = `INSERT INTO portal_sessions (session_id, tenant, mode, workspaces, code_lookup, token_lookup, token_digest,
  expires_at, exchanged_at, revoked_at, document) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const COUNT = `SELECT count(*) AS open FROM portal_sessions
  WHERE tenant = ? AND mode = ? AND expires_at > ? AND revoked_at IS NULL`;
/** `?3` is null for a caller that reaches every workspace, else a JSON list. */
const REACHED = `tenant = ?1 AND mode = ?2 AND (?3 IS NULL OR (json_type(workspaces) = 'array' AND NOT EXISTS (
  SELECT 1 FROM json_each(workspaces) WHERE value NOT IN (SELECT value FROM json_each(?3)))))`;
const FIND = `SELECT * FROM portal_sessions WHERE ${REACHED} AND session_id = ?4`;
const LIST = `SELECT * FROM portal_sessions WHERE ${REACHED} AND (?4 IS NULL OR session_id < ?4)
  ORDER BY session_id DESC LIMIT ?5`;
const BY_CODE = 'SELECT * FROM portal_sessions WHERE code_lookup = ?';
const BY_TOKEN = 'SELECT * FROM portal_sessions WHERE token_lookup = ?';
const EXCHANGE = `UPDATE portal_sessions SET token_lookup = ?2, token_digest = ?3, exchanged_at = ?4
  WHERE session_id = ?1 AND exchanged_at IS NULL AND revoked_at IS NULL`;
const REVOKE = 'UPDATE portal_sessions SET revoked_at = ?2 WHERE session_id = ?1 AND revoked_at IS NULL';
const SWEEP = `DELETE FROM portal_sessions WHERE session_id IN
  (SELECT session_id FROM portal_sessions WHERE expires_at < ? LIMIT ?)`;

export function portalSessionStore(reader: DatabaseSync, database: DatabaseSync, writer: Writer): PortalSessionStore {
  const [insert, count, exchange] = [database.prepare(INSERT), database.prepare(COUNT), database.prepare(EXCHANGE)];
  const [revoke, sweep] = [database.prepare(REVOKE), database.prepare(SWEEP)];
  const [find, list] = [reader.prepare(FIND), reader.prepare(LIST)];
  const by = { code: reader.prepare(BY_CODE), token: reader.prepare(BY_TOKEN) };

  return {
    async insert(session, transaction) {
      writer.require(transaction);
      insert.run(...portalSessionColumns(session));
    },
    async countOpen({ tenant, mode }, now, transaction) {
      writer.require(transaction);
      return integer(count.get(tenant, mode, now) ?? {}, 'open');
    },
    async find(tenancy, sessionId) {
      const row = find.get(...reachOf(tenancy), sessionId);
      return row && portalSessionOf(row);
    },
    list: async (tenancy, { before, limit }) =>
      list.all(...reachOf(tenancy), before ?? null, limit).map(portalSessionOf),
    candidates: async (kind, digest) => by[kind].all(digest.slice(0, DIGEST_INDEXED)).map(portalSessionOf),
    async exchange(sessionId, { tokenDigest, at }, transaction) {
      writer.require(transaction);
      return exchange.run(sessionId, tokenDigest.slice(0, DIGEST_INDEXED), tokenDigest, at).changes > 0;
    },
    async revoke(sessionId, at, transaction) {
      writer.require(transaction);
      return revoke.run(sessionId, at).changes > 0;
    },
    sweep: (before, limit) => writer.transaction(async () => Number(sweep.run(before, limit).changes)),
  };
}

function reachOf({ tenant, mode, workspaces }: Tenancy) {
  return [tenant, mode, workspaces === 'all' ? null : JSON.stringify(workspaces)] as const;
}
