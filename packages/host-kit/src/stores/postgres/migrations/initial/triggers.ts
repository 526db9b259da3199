/**
 * Trigger subscriptions, their messages, and the places up to which hosts have read the sources that they read by themselves. A
 * removed trigger keeps its row until its messages are deleted.
 */
export const triggers = `
CREATE TABLE triggers (
  trigger_id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  workspace text COLLATE "C",
  mode text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  sealed_secrets bytea NOT NULL,
  -- JSON: the fields without a column.
  document text NOT NULL,
  removed boolean NOT NULL DEFAULT false,
  -- The time from which the next occurrence of a schedule is due. Null for other sources, and while it is paused.
  next_fire_at bigint,
  -- The connection that a trigger of the source \`queue\` consumes.
  queue_connection text,
  -- The source that hosts read by themselves, if it is one of them.
  read_source text
);
CREATE INDEX triggers_by_tenant ON triggers (tenant, mode, trigger_id) WHERE NOT removed;
CREATE INDEX triggers_removed ON triggers (trigger_id) WHERE removed;
CREATE INDEX triggers_due_schedules ON triggers (next_fire_at) WHERE next_fire_at IS NOT NULL;
CREATE INDEX triggers_of_queues ON triggers (trigger_id) WHERE queue_connection IS NOT NULL;
CREATE INDEX triggers_of_readings ON triggers (read_source, trigger_id) WHERE read_source IS NOT NULL;

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

CREATE TABLE trigger_places (
  trigger_id text PRIMARY KEY,
  reader text NOT NULL,
  lease_until bigint NOT NULL,
  cursor text,
  reading text NOT NULL
);
`;
