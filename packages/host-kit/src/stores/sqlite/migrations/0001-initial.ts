/** Runs, their events, subscriptions and the outbox. */
export const initial = `
CREATE TABLE runs (
  run_id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  workspace TEXT,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  status TEXT NOT NULL,
  last_sequence INTEGER NOT NULL,
  started_at INTEGER,
  completed_at INTEGER,
  error TEXT,
  -- What never changes: workflow, owner, inputs, tags and the like.
  document TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A restarted host takes up what has not ended.
CREATE INDEX runs_unfinished ON runs (run_id) WHERE status NOT IN ('completed', 'failed', 'cancelled');

CREATE TABLE events (
  run_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  event_id TEXT NOT NULL,
  type TEXT NOT NULL,
  timestamp INTEGER NOT NULL,
  payload TEXT NOT NULL,
  schema_version INTEGER NOT NULL,
  engine_version INTEGER NOT NULL,
  node_id TEXT,
  causation_id TEXT,
  PRIMARY KEY (run_id, sequence)
) STRICT, WITHOUT ROWID;

CREATE TABLE subscriptions (
  webhook_id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  status TEXT NOT NULL,
  circuit TEXT NOT NULL,
  failures TEXT NOT NULL,
  sealed_secret BLOB NOT NULL,
  document TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row for each event type that a subscription asks for, so that an append finds its listeners in one lookup.
CREATE TABLE subscription_events (
  tenant TEXT NOT NULL,
  mode TEXT NOT NULL,
  event_type TEXT NOT NULL,
  webhook_id TEXT NOT NULL REFERENCES subscriptions (webhook_id) ON DELETE CASCADE,
  PRIMARY KEY (tenant, mode, event_type, webhook_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX subscription_events_of ON subscription_events (webhook_id);

CREATE TABLE deliveries (
  -- Ascending in the order of the appends, so it breaks ties of due_at.
  position INTEGER PRIMARY KEY,
  delivery_id TEXT NOT NULL UNIQUE,
  webhook_id TEXT NOT NULL REFERENCES subscriptions (webhook_id) ON DELETE CASCADE,
  run_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  event_type TEXT NOT NULL,
  body BLOB NOT NULL,
  attempts INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'claimed', 'dead')),
  -- Waiting: when it may be attempted. Claimed: when the claim runs out. Dead: when it may be deleted.
  due_at INTEGER NOT NULL,
  dead_at INTEGER,
  last_status INTEGER
) STRICT;

-- The dispatcher steps from subscription to subscription and takes the first due of each.
CREATE INDEX deliveries_waiting ON deliveries (webhook_id, due_at, position) WHERE state = 'waiting';
CREATE INDEX deliveries_claimed ON deliveries (due_at) WHERE state = 'claimed';
CREATE INDEX deliveries_expiring ON deliveries (due_at) WHERE state = 'dead';
CREATE INDEX deliveries_dead ON deliveries (webhook_id, dead_at, position) WHERE state = 'dead';
`;
