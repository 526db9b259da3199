/** Sessions of the portal. `workspaces` is JSON: a list, or `"all"`. A lookup is the beginning of a digest. */
export const portalSessions = `
CREATE TABLE portal_sessions (
  session_id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  mode TEXT NOT NULL,
  workspaces TEXT NOT NULL,
  code_lookup TEXT NOT NULL,
  token_lookup TEXT,
  token_digest TEXT,
  expires_at INTEGER NOT NULL,
  exchanged_at INTEGER,
  revoked_at INTEGER,
  document TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX portal_sessions_of ON portal_sessions (tenant, mode, session_id);
CREATE INDEX portal_sessions_by_code ON portal_sessions (code_lookup);
CREATE INDEX portal_sessions_by_token ON portal_sessions (token_lookup) WHERE token_lookup IS NOT NULL;
CREATE INDEX portal_sessions_by_expiry ON portal_sessions (expires_at);
`;
