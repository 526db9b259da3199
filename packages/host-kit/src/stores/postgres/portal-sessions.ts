import type { Tenancy } from '@svc/auth';
import { DIGEST_INDEXED, type PortalSessionStore } from '../../ports/portal-sessions.ts';
import { portalSessionColumns, portalSessionOf } from '../sql/portal-sessions.ts';
import { integer } from '../sql/row.ts';
import type { Database } from './database.ts';

const INSERT = {
  name: 'portal-sessions-insert',
  text: `INSERT INTO portal_sessions (session_id, tenant, mode, workspaces, code_lookup, token_lookup, token_digest,
    expires_at, exchanged_at, revoked_at, document) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
};
// Additions to one tenant wait for each other: otherwise two could both count below the maximum and exceed it together.
const LOCK = {
  name: 'portal-sessions-lock',
  text: `SELECT pg_advisory_xact_lock(hashtext('svc portal ' || $1 || ' ' || $2))`,
};
const COUNT = {
  name: 'portal-sessions-count',
  text: `SELECT count(*) AS open FROM portal_sessions
    WHERE tenant = $1 AND mode = $2 AND expires_at > $3 AND revoked_at IS NULL`,
};
/** `$3` is null for a caller that reaches every workspace, else a JSON list. */
const REACHED = `tenant = $1 AND mode = $2 AND ($3::jsonb IS NULL OR
  (jsonb_typeof(workspaces) = 'array' AND workspaces <@ $3::jsonb))`;
const FIND = {
  name: 'portal-sessions-find',
  text: `SELECT * FROM portal_sessions WHERE ${REACHED} AND session_id = $4`,
};
const LIST = {
  name: 'portal-sessions-list',
  text: `SELECT * FROM portal_sessions WHERE ${REACHED} AND ($4::text IS NULL OR session_id < $4)
    ORDER BY session_id DESC LIMIT $5`,
};
const BY = {
  code: { name: 'portal-sessions-by-code', text: 'SELECT * FROM portal_sessions WHERE code_lookup = $1' },
  token: { name: 'portal-sessions-by-token', text: 'SELECT * FROM portal_sessions WHERE token_lookup = $1' },
};
const EXCHANGE = {
  name: 'portal-sessions-exchange',
  text: `UPDATE portal_sessions SET token_lookup = $2, token_digest = $3, exchanged_at = $4
    WHERE session_id = $1 AND exchanged_at IS NULL AND revoked_at IS NULL`,
};
const REVOKE = {
  name: 'portal-sessions-revoke',
  text: 'UPDATE portal_sessions SET revoked_at = $2 WHERE session_id = $1 AND revoked_at IS NULL',
};
const SWEEP = {
  name: 'portal-sessions-sweep',
  text: `DELETE FROM portal_sessions WHERE session_id IN (SELECT session_id FROM portal_sessions
    WHERE expires_at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`,
};

export function portalSessionStore(database: Database): PortalSessionStore {
  return {
    async insert(session, transaction) {
      await database.within(transaction, INSERT, portalSessionColumns(session));
    },
    async countOpen({ tenant, mode }, now, transaction) {
      await database.within(transaction, LOCK, [tenant, mode]);
      return integer((await database.within(transaction, COUNT, [tenant, mode, now])).rows[0] ?? {}, 'open');
    },
    async find(tenancy, sessionId) {
      const [row] = (await database.query(FIND, [...reachOf(tenancy), sessionId])).rows;
      return row && portalSessionOf(row);
    },
    async list(tenancy, { before, limit }) {
      return (await database.query(LIST, [...reachOf(tenancy), before ?? null, limit])).rows.map(portalSessionOf);
    },
    async candidates(kind, digest) {
      return (await database.query(BY[kind], [digest.slice(0, DIGEST_INDEXED)])).rows.map(portalSessionOf);
    },
    async exchange(sessionId, { tokenDigest, at }, transaction) {
      const values = [sessionId, tokenDigest.slice(0, DIGEST_INDEXED), tokenDigest, at];
      return (await database.within(transaction, EXCHANGE, values)).count > 0;
    },
    async revoke(sessionId, at, transaction) {
      return (await database.within(transaction, REVOKE, [sessionId, at])).count > 0;
    },
    async sweep(before, limit) {
      return (await database.query(SWEEP, [before, limit])).count;
    },
  };
}

function reachOf({ tenant, mode, workspaces }: Tenancy) {
  return [tenant, mode, workspaces === 'all' ? null : JSON.stringify(workspaces)] as const;
}
