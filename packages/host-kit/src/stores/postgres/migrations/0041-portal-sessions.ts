/** Sessions of the portal. `workspaces` is a list, or `"all"`. A lookup is the beginning of a digest. */
export const portalSessions = `
CREATE TABLE portal_sessions (
  session_id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  mode text NOT NULL,
  workspaces jsonb NOT NULL,
  code_lookup text NOT NULL,
  token_lookup text,
  token_digest text,
  expires_at bigint NOT NULL,
  exchanged_at bigint,
  revoked_at bigint,
  document text NOT NULL
);
CREATE INDEX portal_sessions_of ON portal_sessions (tenant, mode, session_id);
CREATE INDEX portal_sessions_by_code ON portal_sessions (code_lookup);
CREATE INDEX portal_sessions_by_token ON portal_sessions (token_lookup) WHERE token_lookup IS NOT NULL;
CREATE INDEX portal_sessions_by_expiry ON portal_sessions (expires_at);
`;
