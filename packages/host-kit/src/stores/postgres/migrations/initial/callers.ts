/** Callers: their keys, quotas, roles and withdrawals, their stored replies, secrets and files, and the majors that they use. */
export const callers = `
-- \`record\` has every field of a key but its last use; the other columns are for queries.
CREATE TABLE api_keys (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  lookup text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL UNIQUE,
  tenant text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  workspaces jsonb NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  record text NOT NULL,
  last_used_at bigint,
  expiry_noted boolean NOT NULL DEFAULT false
);
CREATE INDEX api_keys_by_lookup ON api_keys (lookup);
CREATE INDEX api_keys_by_tenant ON api_keys (tenant, mode, id);
CREATE INDEX api_keys_configured ON api_keys (source) WHERE source = 'configuration';
CREATE INDEX api_keys_expiring ON api_keys (expires_at) WHERE expires_at IS NOT NULL AND NOT expiry_noted;

-- Counts the changes of keys.
CREATE TABLE key_feed (epoch bigint NOT NULL);
INSERT INTO key_feed VALUES (0);

-- The last change of keys that each host knows, with the end of its lease.
CREATE TABLE key_hosts (
  host text COLLATE "C" NOT NULL PRIMARY KEY,
  known bigint NOT NULL,
  lease_until timestamptz NOT NULL
);

-- The counts of quotas, by the id of the key that counts. All times are in ms since the epoch.
CREATE TABLE api_key_quotas (
  account text COLLATE "C" PRIMARY KEY,
  period text NOT NULL,
  starts_at bigint NOT NULL,
  taken bigint NOT NULL,
  used bigint NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX api_key_quotas_by_period ON api_key_quotas (period, starts_at);

-- Roles, their assignments, and withdrawn credentials. \`record\` has every field; the other columns are for queries.
CREATE TABLE access (
  kind text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  lookup text COLLATE "C" NOT NULL,
  principal text COLLATE "C",
  role text COLLATE "C",
  source text COLLATE "C" NOT NULL,
  ends_at bigint,
  record text NOT NULL,
  PRIMARY KEY (kind, tenant, id)
);
CREATE INDEX access_by_lookup ON access (lookup);
CREATE INDEX access_configured ON access (source) WHERE source = 'configuration';
CREATE INDEX access_ending ON access (ends_at) WHERE ends_at IS NOT NULL;

-- \`sealed\` is the reply, encrypted; null while the request is executed.
CREATE TABLE idempotency_keys (
  tenant text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL,
  operation text COLLATE "C" NOT NULL,
  key_hash text COLLATE "C" NOT NULL,
  owner text NOT NULL,
  digest text NOT NULL,
  lease_until bigint NOT NULL,
  expires_at bigint NOT NULL,
  sealed bytea,
  PRIMARY KEY (tenant, mode, operation, key_hash)
);
CREATE INDEX idempotency_keys_expiring ON idempotency_keys (expires_at);

-- Secrets of tenants (bring your own key), encrypted. An empty workspace is the whole tenant.
CREATE TABLE byok_secrets (
  tenant text COLLATE "C" NOT NULL,
  workspace text COLLATE "C" NOT NULL,
  mode text NOT NULL,
  name text COLLATE "C" NOT NULL,
  sealed bytea NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (tenant, workspace, mode, name)
);

-- The ids of the keys that seal records.
CREATE TABLE sealing_keys (key_id text PRIMARY KEY);

-- Files of workspaces, in versions. An empty workspace is the whole tenant. A version without \`etag\` is a removal. A revision
-- numbers the changes of a place.
CREATE TABLE workspace_files (
  tenant text COLLATE "C" NOT NULL,
  workspace text COLLATE "C" NOT NULL,
  mode text NOT NULL,
  path text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  newest boolean NOT NULL,
  etag text,
  content_type text,
  content bytea,
  updated_at bigint NOT NULL,
  revision bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, workspace, mode, path, version)
);
CREATE UNIQUE INDEX workspace_files_newest ON workspace_files (tenant, workspace, mode, path) WHERE newest;
CREATE INDEX workspace_files_revisions ON workspace_files (tenant, workspace, mode, revision);

-- The requests of each credential under each major of the protocol, by day. The major comes before the credential in the key: the
-- callers of one major are found without those of another.
CREATE TABLE version_uses (
  tenant text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL,
  major smallint NOT NULL,
  lane text COLLATE "C" NOT NULL,
  -- An id of the credential, which contains no part of it.
  credential text COLLATE "C" NOT NULL,
  -- Start of the day in UTC, in ms since the epoch.
  day bigint NOT NULL,
  requests bigint NOT NULL,
  last_at bigint NOT NULL,
  PRIMARY KEY (tenant, mode, major, lane, credential, day)
) WITH (fillfactor = 70);
CREATE INDEX version_uses_old ON version_uses (day);
`;
