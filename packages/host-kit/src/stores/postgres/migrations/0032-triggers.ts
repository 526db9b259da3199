/**
 * Trigger subscriptions and their messages. `document` of a trigger has its fields without a column. A removed trigger
 * keeps its row until its messages are deleted.
 */
export const triggers = `
CREATE TABLE triggers (
  trigger_id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  workspace text COLLATE "C",
  mode text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  sealed_secrets bytea NOT NULL,
  document text NOT NULL,
  removed boolean NOT NULL DEFAULT false
);
CREATE INDEX triggers_by_tenant ON triggers (tenant, mode, trigger_id) WHERE NOT removed;
CREATE INDEX triggers_removed ON triggers (trigger_id) WHERE removed;
CREATE TABLE trigger_messages (
  trigger_id text COLLATE "C" NOT NULL,
  dedup_key text COLLATE "C" NOT NULL,
  delivery_id text COLLATE "C" NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  attempts integer NOT NULL,
  received_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  next_attempt_at bigint,
  run_id text COLLATE "C",
  problem text,
  document text,
  PRIMARY KEY (trigger_id, dedup_key)
);
CREATE UNIQUE INDEX trigger_messages_by_id ON trigger_messages (trigger_id, delivery_id);
CREATE INDEX trigger_messages_by_outcome ON trigger_messages (trigger_id, outcome, delivery_id) WHERE outcome <> 'delivered';
CREATE INDEX trigger_messages_due ON trigger_messages (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX trigger_messages_expiring ON trigger_messages (expires_at);
`;
