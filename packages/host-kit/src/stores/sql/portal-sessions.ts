import { DIGEST_INDEXED, type PortalSession } from '../../ports/portal-sessions.ts';
import { integer, optional, type Row, text } from './row.ts';

/**
 * Returns the values of `session_id`, `tenant`, `mode`, `workspaces`, `code_lookup`, `token_lookup`, `token_digest`,
 * `expires_at`, `exchanged_at`, `revoked_at` and `document`.
 */
export function portalSessionColumns(session: PortalSession) {
  const { sessionId, tenancy, tokenDigest, expiresAt, exchangedAt, revokedAt, ...document } = session;
  const { tenant, mode, workspaces } = tenancy;
  return [
    sessionId,
    tenant,
    mode,
    JSON.stringify(workspaces),
    document.codeDigest.slice(0, DIGEST_INDEXED),
    tokenDigest?.slice(0, DIGEST_INDEXED) ?? null,
    tokenDigest ?? null,
    expiresAt,
    exchangedAt ?? null,
    revokedAt ?? null,
    JSON.stringify(document),
  ] as const;
}

export function portalSessionOf(row: Row): PortalSession {
  const { workspaces } = row;
  const document = JSON.parse(text(row, 'document'));
  return {
    ...document,
    origin: document.origin,
    sessionId: text(row, 'session_id'),
    tenancy: {
      tenant: text(row, 'tenant'),
      // The driver of PostgreSQL parses the column.
      workspaces: typeof workspaces === 'string' && workspaces !== 'all' ? JSON.parse(workspaces) : workspaces,
      mode: text(row, 'mode') === 'test' ? 'test' : 'live',
    },
    tokenDigest: optional(row, 'token_digest', text),
    expiresAt: integer(row, 'expires_at'),
    exchangedAt: optional(row, 'exchanged_at', integer),
    revokedAt: optional(row, 'revoked_at', integer),
  };
}
