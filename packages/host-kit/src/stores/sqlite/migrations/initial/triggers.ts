/**
 * Trigger subscriptions, their messages, and the places up to which the host has read the sources that it reads by itself. A removed
 * trigger keeps its row until its messages are deleted.
 */
export const triggers = `
CREATE TABLE triggers (
  trigger_id TEXT NOT NULL PRIMARY KEY,
  tenant TEXT NOT NULL,
  workspace TEXT,
  mode TEXT NOT NULL,
  state TEXT NOT NULL,
  sealed_secrets BLOB NOT NULL,
  -- JSON: the fields without a column.
  document TEXT NOT NULL,
  removed INTEGER NOT NULL DEFAULT 0,
  -- The time from which the next occurrence of a schedule is due. Null for other sources, and while it is paused.
  next_fire_at INTEGER,
  -- The connection that a trigger of the source \`queue\` consumes.
  queue_connection TEXT,
  -- The source that hosts read by themselves, if it is one of them.
  read_source TEXT
) STRICT;
CREATE INDEX triggers_by_tenant ON triggers (tenant, mode, trigger_id) WHERE removed = 0;
CREATE INDEX triggers_due_schedules ON triggers (next_fire_at) WHERE next_fire_at IS NOT NULL;
CREATE INDEX triggers_of_queues ON triggers (trigger_id) WHERE queue_connection IS NOT NULL;
CREATE INDEX triggers_of_readings ON triggers (read_source, trigger_id) WHERE read_source IS NOT NULL;
CREATE INDEX triggers_removed ON triggers (trigger_id) WHERE removed = 1;

CREATE TABLE trigger_messages (
  trigger_id TEXT NOT NULL,
  dedup_key TEXT NOT NULL,
  delivery_id TEXT NOT NULL,
  outcome TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  next_attempt_at INTEGER,
  run_id TEXT,
  problem TEXT,
  document TEXT,
  PRIMARY KEY (trigger_id, dedup_key)
) STRICT;
CREATE UNIQUE INDEX trigger_messages_by_id ON trigger_messages (trigger_id, delivery_id);
CREATE INDEX trigger_messages_by_outcome ON trigger_messages (trigger_id, outcome, delivery_id) WHERE outcome <> 'delivered';
CREATE INDEX trigger_messages_due ON trigger_messages (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX trigger_messages_expiring ON trigger_messages (expires_at);

CREATE TABLE trigger_places (
  trigger_id TEXT PRIMARY KEY,
  reader TEXT NOT NULL,
  lease_until INTEGER NOT NULL,
  cursor TEXT,
  reading TEXT NOT NULL
) STRICT;
`;
