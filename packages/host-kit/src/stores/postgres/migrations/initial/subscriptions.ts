/**
 * Subscriptions, the outbox of their deliveries, and what is known of their receivers.
 *
 * The store deletes the deliveries and attempts of a removed subscription, in steps. A cascade would delete all of them in one
 * transaction, without an index, and the foreign key would lock the subscription for every delivery and attempt that is written.
 */
export const subscriptions = `
CREATE TABLE subscriptions (
  webhook_id text COLLATE "C" PRIMARY KEY,
  tenant text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('live', 'test')),
  status text NOT NULL,
  circuit text NOT NULL,
  failures text NOT NULL,
  sealed_secret bytea NOT NULL,
  document text NOT NULL,
  secret_fingerprint text NOT NULL DEFAULT '',
  -- The secret before a rotation, while both sign.
  previous_sealed_secret bytea,
  previous_replaced_at bigint,
  previous_expires_at bigint,
  outage text,
  -- The operational events about the subscription.
  event_run_id text,
  event_sequence bigint
);
CREATE INDEX subscriptions_of ON subscriptions (tenant, mode, webhook_id);
CREATE INDEX subscriptions_expiring ON subscriptions (previous_expires_at) WHERE previous_expires_at IS NOT NULL;

-- One row for each event type and workspace that a subscription asks for, so that an append finds its listeners in one lookup.
CREATE TABLE subscription_events (
  tenant text NOT NULL,
  mode text NOT NULL,
  event_type text NOT NULL,
  -- '*': all of the tenant.
  workspace text NOT NULL,
  webhook_id text COLLATE "C" NOT NULL REFERENCES subscriptions (webhook_id) ON DELETE CASCADE,
  PRIMARY KEY (tenant, mode, event_type, workspace, webhook_id)
);
CREATE INDEX subscription_events_of ON subscription_events (webhook_id);

-- The subscriptions that a restore has paused, until they are released.
CREATE TABLE held_subscriptions (
  webhook_id text COLLATE "C" PRIMARY KEY,
  held_at bigint NOT NULL
);

CREATE TABLE deliveries (
  -- Ascending in the order of the appends, so it breaks ties of due_at.
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  delivery_id text COLLATE "C" NOT NULL UNIQUE,
  webhook_id text COLLATE "C" NOT NULL,
  run_id text NOT NULL,
  event_id text NOT NULL,
  sequence bigint NOT NULL,
  event_type text NOT NULL,
  body bytea NOT NULL,
  attempts integer NOT NULL,
  state text NOT NULL CHECK (state IN ('waiting', 'claimed', 'dead')),
  -- Waiting: when it may be attempted. Claimed: when the claim runs out. Dead: when it may be deleted.
  due_at bigint NOT NULL,
  dead_at bigint,
  last_status integer,
  -- Empty when the subscription was removed meanwhile.
  tenant text COLLATE "C" NOT NULL DEFAULT ''
);
-- A claim finds the due deliveries of each tenant without walking through those of the others.
CREATE INDEX deliveries_turns ON deliveries (tenant, webhook_id, due_at, position) WHERE state = 'waiting';
CREATE INDEX deliveries_due_of ON deliveries (tenant, due_at) WHERE state = 'waiting';
-- For the next due time alone. No other query can use an index of an expression: a claim that did would walk through the whole
-- backlog of one subscription to find the due deliveries of the others.
CREATE INDEX deliveries_next_due ON deliveries ((due_at + 0)) WHERE state = 'waiting';
CREATE INDEX deliveries_claimed ON deliveries (due_at) WHERE state = 'claimed';
CREATE INDEX deliveries_expiring ON deliveries (due_at) WHERE state = 'dead';
CREATE INDEX deliveries_dead ON deliveries (webhook_id, dead_at, delivery_id) WHERE state = 'dead';

CREATE TABLE attempts (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  webhook_id text COLLATE "C" NOT NULL,
  delivery_id text NOT NULL,
  run_id text NOT NULL,
  sequence bigint NOT NULL,
  event_type text NOT NULL,
  attempt integer NOT NULL,
  at bigint NOT NULL,
  duration_us bigint NOT NULL,
  outcome text NOT NULL,
  status integer,
  reason text,
  phases text
);
CREATE INDEX attempts_of ON attempts (webhook_id, position);

-- The answers of failing receivers, sealed.
CREATE TABLE captured_answers (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  webhook_id text COLLATE "C" NOT NULL REFERENCES subscriptions (webhook_id) ON DELETE CASCADE,
  delivery_id text COLLATE "C" NOT NULL,
  attempt integer NOT NULL,
  at bigint NOT NULL,
  expires_at bigint NOT NULL,
  sealed bytea NOT NULL
);
CREATE INDEX captured_answers_of ON captured_answers (webhook_id, position);
CREATE INDEX captured_answers_expiring ON captured_answers (expires_at);

-- The attempts and ended deliveries of each subscription, counted by minute and by the host that counted them: hosts do not wait
-- for each other's settlements. The free space of each page takes the next version of its rows. Rows of a removed subscription
-- stay until their time has passed.
CREATE TABLE delivery_minutes (
  webhook_id text COLLATE "C" NOT NULL,
  -- Start of the minute, in ms since the epoch.
  minute bigint NOT NULL,
  writer text COLLATE "C" NOT NULL,
  delivered bigint NOT NULL,
  failed bigint NOT NULL,
  dead_lettered bigint NOT NULL,
  skipped bigint NOT NULL,
  duration_us bigint NOT NULL,
  latency_0 bigint NOT NULL,
  latency_1 bigint NOT NULL,
  latency_2 bigint NOT NULL,
  latency_3 bigint NOT NULL,
  latency_4 bigint NOT NULL,
  latency_5 bigint NOT NULL,
  latency_6 bigint NOT NULL,
  latency_7 bigint NOT NULL,
  PRIMARY KEY (webhook_id, minute, writer)
) WITH (fillfactor = 50);
CREATE INDEX delivery_minutes_old ON delivery_minutes (minute);

-- Long operations on the deliveries of a subscription.
CREATE TABLE webhook_jobs (
  job_id text COLLATE "C" PRIMARY KEY,
  webhook_id text COLLATE "C" NOT NULL REFERENCES subscriptions (webhook_id) ON DELETE CASCADE,
  state text NOT NULL,
  next_step_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  document text NOT NULL
);
CREATE INDEX webhook_jobs_of ON webhook_jobs (webhook_id, job_id);
CREATE INDEX webhook_jobs_due ON webhook_jobs (next_step_at) WHERE state = 'running';

-- Sessions of the portal. \`workspaces\` is a list, or "all". A lookup is the beginning of a digest.
CREATE TABLE portal_sessions (
  session_id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  mode text NOT NULL,
  workspaces jsonb NOT NULL,
  code_lookup text NOT NULL,
  token_lookup text,
  token_digest text,
  expires_at bigint NOT NULL,
  exchanged_at bigint,
  revoked_at bigint,
  document text NOT NULL
);
CREATE INDEX portal_sessions_of ON portal_sessions (tenant, mode, session_id);
CREATE INDEX portal_sessions_by_code ON portal_sessions (code_lookup);
CREATE INDEX portal_sessions_by_token ON portal_sessions (token_lookup) WHERE token_lookup IS NOT NULL;
CREATE INDEX portal_sessions_by_expiry ON portal_sessions (expires_at);
`;
