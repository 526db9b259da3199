/** Secrets of tenants (bring your own key), encrypted. An empty workspace is the whole tenant. */
export const byok = `
CREATE TABLE byok_secrets (
  tenant TEXT NOT NULL,
  workspace TEXT NOT NULL,
  mode TEXT NOT NULL,
  name TEXT NOT NULL,
  sealed BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, workspace, mode, name)
) STRICT, WITHOUT ROWID;
`;
