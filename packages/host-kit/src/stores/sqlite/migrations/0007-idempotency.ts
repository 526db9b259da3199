/** Idempotency keys. `sealed` is the reply, encrypted; null while the request is executed. */
export const idempotency = `
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
`;
