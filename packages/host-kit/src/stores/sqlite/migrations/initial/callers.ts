/** Callers: their keys, quotas, roles and withdrawals, their stored replies, secrets and files, and the majors that they use. */
export const callers = `
-- \`record\` has every field of a key but its last use; the other columns are for queries.
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

-- The counts of quotas, by the id of the key that counts. All times are in ms since the epoch.
CREATE TABLE api_key_quotas (
  account TEXT PRIMARY KEY,
  period TEXT NOT NULL,
  starts_at INTEGER NOT NULL,
  taken INTEGER NOT NULL,
  used INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX api_key_quotas_by_period ON api_key_quotas (period, starts_at);

-- Roles, their assignments, and withdrawn credentials. \`record\` has every field; the other columns are for queries.
CREATE TABLE access (
  kind TEXT NOT NULL,
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  lookup TEXT NOT NULL,
  principal TEXT,
  role TEXT,
  source TEXT NOT NULL,
  ends_at INTEGER,
  record TEXT NOT NULL,
  PRIMARY KEY (kind, tenant, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX access_by_lookup ON access (lookup);
CREATE INDEX access_configured ON access (source) WHERE source = 'configuration';
CREATE INDEX access_ending ON access (ends_at) WHERE ends_at IS NOT NULL;

-- \`sealed\` is the reply, encrypted; null while the request is executed.
CREATE TABLE idempotency_keys (
  tenant TEXT NOT NULL,
  mode TEXT NOT NULL,
  operation TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  owner TEXT NOT NULL,
  digest TEXT NOT NULL,
  lease_until INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  sealed BLOB,
  PRIMARY KEY (tenant, mode, operation, key_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_expiring ON idempotency_keys (expires_at);

-- Secrets of tenants (bring your own key), encrypted. An empty workspace is the whole tenant.
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

-- The ids of the keys that seal records.
CREATE TABLE sealing_keys (key_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

-- Files of workspaces, in versions. An empty workspace is the whole tenant. A version without \`etag\` is a removal. A revision
-- numbers the changes of a place.
CREATE TABLE workspace_files (
  tenant TEXT NOT NULL,
  workspace TEXT NOT NULL,
  mode TEXT NOT NULL,
  path TEXT NOT NULL,
  version INTEGER NOT NULL,
  newest INTEGER NOT NULL,
  etag TEXT,
  content_type TEXT,
  content BLOB,
  updated_at INTEGER NOT NULL,
  revision INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, workspace, mode, path, version)
) STRICT;
CREATE UNIQUE INDEX workspace_files_newest ON workspace_files (tenant, workspace, mode, path) WHERE newest = 1;
CREATE INDEX workspace_files_revisions ON workspace_files (tenant, workspace, mode, revision);

-- The requests of each credential under each major of the protocol, by day. The major comes before the credential in the key: the
-- callers of one major are found without those of another.
CREATE TABLE version_uses (
  tenant TEXT NOT NULL,
  mode TEXT NOT NULL,
  major INTEGER NOT NULL,
  lane TEXT NOT NULL,
  -- An id of the credential, which contains no part of it.
  credential TEXT NOT NULL,
  -- Start of the day in UTC, in ms since the epoch.
  day INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, mode, major, lane, credential, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX version_uses_old ON version_uses (day);
`;
