/**
 * API keys. `record` has every field of a key but its last use; the other columns are for queries. `key_feed` counts the
 * changes of keys, and `key_hosts` has the last change that each host knows, with the end of its lease.
 */
export const apiKeys = `
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
CREATE TABLE key_feed (epoch bigint NOT NULL);
INSERT INTO key_feed VALUES (0);
CREATE TABLE key_hosts (
  host text COLLATE "C" NOT NULL PRIMARY KEY,
  known bigint NOT NULL,
  lease_until timestamptz NOT NULL
);
`;
