/** Runs, their events, subscriptions, the outbox, the last attempts and the audit log. */
export const initial = `
CREATE TABLE runs (
  run_id text PRIMARY KEY,
  tenant text NOT NULL,
  workspace text,
  mode text NOT NULL CHECK (mode IN ('live', 'test')),
  status text NOT NULL,
  last_sequence bigint NOT NULL,
  started_at bigint,
  completed_at bigint,
  error text,
  -- What never changes, as JSON text: JSON of PostgreSQL's own does not hold every string.
  document text NOT NULL,
  -- The host that executes it, and until when nobody else may.
  holder text NOT NULL,
  held_until bigint NOT NULL
);

CREATE INDEX runs_unfinished ON runs (run_id) WHERE status NOT IN ('completed', 'failed', 'cancelled');

CREATE TABLE events (
  run_id text NOT NULL,
  sequence bigint NOT NULL,
  event_id text NOT NULL,
  type text NOT NULL,
  timestamp bigint NOT NULL,
  payload text NOT NULL,
  schema_version integer NOT NULL,
  engine_version integer NOT NULL,
  node_id text,
  causation_id text,
  PRIMARY KEY (run_id, sequence)
);

CREATE TABLE subscriptions (
  webhook_id text COLLATE "C" PRIMARY KEY,
  tenant text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('live', 'test')),
  status text NOT NULL,
  circuit text NOT NULL,
  failures text NOT NULL,
  sealed_secret bytea NOT NULL,
  document text NOT NULL
);

CREATE INDEX subscriptions_of ON subscriptions (tenant, mode, webhook_id);

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

CREATE TABLE deliveries (
  -- Ascending in the order of the appends, so it breaks ties of due_at.
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  delivery_id text COLLATE "C" NOT NULL UNIQUE,
  webhook_id text COLLATE "C" NOT NULL REFERENCES subscriptions (webhook_id) ON DELETE CASCADE,
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
  last_status integer
);

CREATE INDEX deliveries_waiting ON deliveries (webhook_id, due_at, position) WHERE state = 'waiting';
CREATE INDEX deliveries_due ON deliveries (due_at) WHERE state = 'waiting';
CREATE INDEX deliveries_claimed ON deliveries (due_at) WHERE state = 'claimed';
CREATE INDEX deliveries_expiring ON deliveries (due_at) WHERE state = 'dead';
CREATE INDEX deliveries_dead ON deliveries (webhook_id, dead_at, delivery_id) WHERE state = 'dead';

CREATE TABLE attempts (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  webhook_id text COLLATE "C" NOT NULL REFERENCES subscriptions (webhook_id) ON DELETE CASCADE,
  delivery_id text NOT NULL,
  run_id text NOT NULL,
  sequence bigint NOT NULL,
  event_type text NOT NULL,
  attempt integer NOT NULL,
  at bigint NOT NULL,
  duration_us bigint NOT NULL,
  outcome text NOT NULL,
  status integer,
  reason text
);

CREATE INDEX attempts_of ON attempts (webhook_id, position);

CREATE TABLE audit_entries (
  at_sequence bigint PRIMARY KEY,
  action text NOT NULL,
  actor text,
  target text,
  occurred_at text NOT NULL,
  details text NOT NULL,
  prev_hash text,
  hash text NOT NULL
);

CREATE TABLE audit_checkpoints (
  at_sequence bigint PRIMARY KEY,
  checkpoint text NOT NULL UNIQUE,
  merkle_root text NOT NULL,
  signature text NOT NULL
);

CREATE FUNCTION audit_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$;

CREATE TRIGGER audit_entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION audit_stays();
CREATE TRIGGER audit_checkpoints_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_checkpoints
  FOR EACH STATEMENT EXECUTE FUNCTION audit_stays();
`;
