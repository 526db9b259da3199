/** Idempotency keys. `sealed` is the reply, encrypted; null while the request is executed. */
export const idempotency = `
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
`;
