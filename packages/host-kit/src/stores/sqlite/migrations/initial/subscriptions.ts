/**
 * Subscriptions, the outbox of their deliveries, and what is known of their receivers. Claims and turns are in the memory of the only
 * process. The store deletes the deliveries and attempts of a removed subscription, in steps.
 */
export const subscriptions = `
CREATE TABLE subscriptions (
  webhook_id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  status TEXT NOT NULL,
  circuit TEXT NOT NULL,
  failures TEXT NOT NULL,
  sealed_secret BLOB NOT NULL,
  document TEXT NOT NULL,
  secret_fingerprint TEXT NOT NULL DEFAULT '',
  -- The secret before a rotation, while both sign.
  previous_sealed_secret BLOB,
  previous_replaced_at INTEGER,
  previous_expires_at INTEGER,
  outage TEXT,
  -- The operational events about the subscription.
  event_run_id TEXT,
  event_sequence INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX subscriptions_expiring ON subscriptions (previous_expires_at) WHERE previous_expires_at IS NOT NULL;
CREATE INDEX subscriptions_of ON subscriptions (tenant, mode, webhook_id);

-- One row for each event type and workspace that a subscription asks for, so that an append finds its listeners in one lookup.
CREATE TABLE subscription_listens (
  tenant TEXT NOT NULL,
  mode TEXT NOT NULL,
  event_type TEXT NOT NULL,
  -- '*': all of the tenant.
  workspace TEXT NOT NULL,
  webhook_id TEXT NOT NULL REFERENCES subscriptions (webhook_id) ON DELETE CASCADE,
  PRIMARY KEY (tenant, mode, event_type, workspace, webhook_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX subscription_listens_of ON subscription_listens (webhook_id);

CREATE TABLE deliveries (
  -- Ascending in the order of the appends, so it breaks ties of due_at.
  position INTEGER PRIMARY KEY,
  delivery_id TEXT NOT NULL,
  webhook_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  event_type TEXT NOT NULL,
  body BLOB NOT NULL,
  attempts INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'dead')),
  -- Waiting: when it may be attempted. Dead: when it may be deleted.
  due_at INTEGER NOT NULL,
  dead_at INTEGER,
  last_status INTEGER
) STRICT;
CREATE INDEX deliveries_dead ON deliveries (webhook_id, dead_at, delivery_id) WHERE state = 'dead';
CREATE INDEX deliveries_expiring ON deliveries (due_at) WHERE state = 'dead';
-- An operator names the dead letters to redrive.
CREATE INDEX deliveries_ids ON deliveries (delivery_id);
CREATE INDEX deliveries_waiting ON deliveries (webhook_id, due_at, position) WHERE state = 'waiting';

-- A ring for each subscription, whose rows are overwritten.
CREATE TABLE attempts (
  webhook_id TEXT NOT NULL,
  -- Its place in the ring: position modulo what is kept.
  slot INTEGER NOT NULL,
  -- Ascending in the order of the attempts of one subscription.
  position INTEGER NOT NULL,
  delivery_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  event_type TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  at INTEGER NOT NULL,
  duration_us INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  status INTEGER,
  reason TEXT,
  phases TEXT,
  PRIMARY KEY (webhook_id, slot)
) STRICT, WITHOUT ROWID;

-- The attempts of a transaction as one row, so that a settlement writes one page instead of one for each subscription. The store
-- moves them to \`attempts\` later, many of one subscription at a time.
CREATE TABLE attempt_journal (
  id INTEGER PRIMARY KEY,
  -- JSON: a list of attempts, each as the list of its columns.
  attempts TEXT NOT NULL
) STRICT;

-- The answers of failing receivers, sealed.
CREATE TABLE captured_answers (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  webhook_id TEXT NOT NULL REFERENCES subscriptions (webhook_id) ON DELETE CASCADE,
  delivery_id TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  sealed BLOB NOT NULL
) STRICT;
CREATE INDEX captured_answers_expiring ON captured_answers (expires_at);
CREATE INDEX captured_answers_of ON captured_answers (webhook_id, position);

-- The attempts and ended deliveries of each subscription, counted by minute. The minute comes first in the key: the rows that
-- settlements change lie together, however many subscriptions there are. Rows of a removed subscription stay until their time has
-- passed.
CREATE TABLE delivery_minutes (
  -- Start of the minute, in ms since the epoch.
  minute INTEGER NOT NULL,
  webhook_id TEXT NOT NULL,
  delivered INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  dead_lettered INTEGER NOT NULL,
  skipped INTEGER NOT NULL,
  duration_us INTEGER NOT NULL,
  latency_0 INTEGER NOT NULL,
  latency_1 INTEGER NOT NULL,
  latency_2 INTEGER NOT NULL,
  latency_3 INTEGER NOT NULL,
  latency_4 INTEGER NOT NULL,
  latency_5 INTEGER NOT NULL,
  latency_6 INTEGER NOT NULL,
  latency_7 INTEGER NOT NULL,
  PRIMARY KEY (minute, webhook_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_minutes_of ON delivery_minutes (webhook_id, minute);

-- Long operations on the deliveries of a subscription.
CREATE TABLE webhook_jobs (
  job_id TEXT PRIMARY KEY,
  webhook_id TEXT NOT NULL REFERENCES subscriptions (webhook_id) ON DELETE CASCADE,
  state TEXT NOT NULL,
  next_step_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  document TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_jobs_due ON webhook_jobs (next_step_at) WHERE state = 'running';
CREATE INDEX webhook_jobs_of ON webhook_jobs (webhook_id, job_id);

-- Sessions of the portal. \`workspaces\` is JSON: a list, or "all". A lookup is the beginning of a digest.
CREATE TABLE portal_sessions (
  session_id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  mode TEXT NOT NULL,
  workspaces TEXT NOT NULL,
  code_lookup TEXT NOT NULL,
  token_lookup TEXT,
  token_digest TEXT,
  expires_at INTEGER NOT NULL,
  exchanged_at INTEGER,
  revoked_at INTEGER,
  document TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX portal_sessions_by_code ON portal_sessions (code_lookup);
CREATE INDEX portal_sessions_by_expiry ON portal_sessions (expires_at);
CREATE INDEX portal_sessions_by_token ON portal_sessions (token_lookup) WHERE token_lookup IS NOT NULL;
CREATE INDEX portal_sessions_of ON portal_sessions (tenant, mode, session_id);
`;
