/** API keys. `record` has every field of a key but its last use; the other columns are for queries. */
export const apiKeys = `
CREATE TABLE api_keys (
  id TEXT NOT NULL PRIMARY KEY,
  lookup TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  mode TEXT NOT NULL,
  principal TEXT NOT NULL,
  source TEXT NOT NULL,
  workspaces TEXT NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  record TEXT NOT NULL,
  last_used_at INTEGER,
  expiry_noted INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_by_lookup ON api_keys (lookup);
CREATE INDEX api_keys_by_tenant ON api_keys (tenant, mode, id);
CREATE INDEX api_keys_configured ON api_keys (source) WHERE source = 'configuration';
CREATE INDEX api_keys_expiring ON api_keys (expires_at) WHERE expires_at IS NOT NULL AND expiry_noted = 0;
`;
