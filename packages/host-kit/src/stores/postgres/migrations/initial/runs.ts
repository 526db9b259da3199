/**
 * Runs with their events, questions, artifacts, judgements and effects. A removed run is listed until its records are deleted, in
 * steps.
 */
export const runs = `
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
  -- The host that executes the run, and the end of its lease.
  holder text NOT NULL,
  held_until bigint NOT NULL,
  -- Counts the changes of the holder, so that a former one appends nothing more.
  epoch bigint NOT NULL DEFAULT 0,
  scope_id text,
  -- JSON: the nodes that are under way.
  open_nodes text,
  current_node_id text,
  -- JSON: the request to pause the run.
  pause_request text,
  paused_at bigint,
  -- JSON: the request to cancel the run.
  cancel_request text,
  -- The conversation that the run is a turn of.
  conversation text,
  usage text,
  -- The run reads the workspace files of one revision until it ends.
  files_revision bigint,
  -- The source of a fork that may still read its log.
  fork_source text COLLATE "C",
  -- The run that started this one as its child. The collation is that of run_id, whose index joins use.
  parent_run_id text,
  parent_node_id text COLLATE "C",
  -- JSON. Null for a run of an engine that does not compensate.
  compensation text
);
CREATE INDEX runs_unfinished ON runs (run_id) WHERE status IN ('pending', 'running', 'cancelling');
CREATE INDEX runs_of ON runs (tenant, mode, run_id);
CREATE INDEX runs_in ON runs (tenant, mode, workspace, run_id);
CREATE INDEX runs_active ON runs (scope_id) WHERE scope_id IS NOT NULL AND status NOT IN ('completed', 'failed', 'cancelled');
CREATE INDEX runs_of_conversation ON runs (tenant, mode, conversation, run_id) WHERE conversation IS NOT NULL;
CREATE INDEX runs_files_revisions ON runs (tenant, mode, coalesce(workspace, ''), files_revision)
  WHERE files_revision IS NOT NULL;
CREATE INDEX runs_forking ON runs (fork_source)
  WHERE fork_source IS NOT NULL AND status NOT IN ('completed', 'failed', 'cancelled');
CREATE INDEX runs_ended ON runs (completed_at) WHERE status IN ('completed', 'failed', 'cancelled');
CREATE UNIQUE INDEX runs_by_parent ON runs (parent_run_id, parent_node_id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX runs_open_children ON runs (run_id, parent_run_id)
  WHERE parent_run_id IS NOT NULL AND status NOT IN ('completed', 'failed', 'cancelled', 'cancelling');
CREATE INDEX runs_waiting_external ON runs (run_id) WHERE status = 'waiting-external';

CREATE TABLE removed_runs (run_id text COLLATE "C" PRIMARY KEY);

-- The position of an event is its transaction and its number. A transaction that begins later may commit earlier, so readers
-- stop before the oldest open transaction.
CREATE SEQUENCE event_indexes;
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
  commit_order bigint DEFAULT (pg_current_xact_id()::text::bigint),
  commit_index bigint DEFAULT nextval('event_indexes'),
  PRIMARY KEY (run_id, sequence)
);
CREATE INDEX events_by_position ON events (commit_order, commit_index) WHERE commit_order IS NOT NULL;

-- Added to the ids of transactions. Rises when the tables are restored into a server whose ids are lower.
CREATE TABLE event_order (xid_offset bigint NOT NULL);
INSERT INTO event_order VALUES (0);

CREATE TABLE removed_positions (
  tenant text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL,
  commit_order bigint NOT NULL,
  commit_index bigint NOT NULL,
  PRIMARY KEY (tenant, mode)
);

CREATE TABLE interrupts (
  run_id text NOT NULL,
  interrupt_id text COLLATE "C" NOT NULL,
  node_id text NOT NULL,
  key text NOT NULL,
  document text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'resolved', 'closed')),
  -- The next time at which the timer of a pending interrupt acts.
  due_at bigint,
  votes text NOT NULL,
  resolution text,
  PRIMARY KEY (run_id, interrupt_id)
);
CREATE UNIQUE INDEX interrupts_keys ON interrupts (run_id, node_id, key);
CREATE INDEX interrupts_due ON interrupts (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE artifacts (
  run_id text NOT NULL,
  artifact_id text COLLATE "C" NOT NULL,
  document text NOT NULL,
  PRIMARY KEY (run_id, artifact_id)
);

CREATE TABLE annotations (
  run_id text COLLATE "C" NOT NULL,
  annotation_id text COLLATE "C" NOT NULL,
  document text NOT NULL,
  PRIMARY KEY (run_id, annotation_id)
);

-- The result of an effect is apart from its other facts, so that the ledger of a run is read without results.
CREATE TABLE effects (
  effect_id text COLLATE "C" PRIMARY KEY,
  at bigint NOT NULL,
  facts text NOT NULL,
  result text
);
CREATE INDEX effects_at ON effects (at);

CREATE TABLE effect_uses (
  run_id text COLLATE "C" NOT NULL,
  effect_id text COLLATE "C" NOT NULL REFERENCES effects (effect_id) ON DELETE CASCADE,
  node_id text NOT NULL,
  attempt bigint NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (run_id, effect_id)
);
CREATE INDEX effect_uses_of ON effect_uses (effect_id);
`;
