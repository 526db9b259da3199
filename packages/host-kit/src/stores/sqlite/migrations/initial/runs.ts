/**
 * Runs with their events, questions, artifacts, judgements and effects. A removed run is listed until its records are deleted, in
 * steps.
 */
export const runs = `
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
  document TEXT NOT NULL,
  scope_id TEXT,
  -- JSON: the nodes that are under way.
  open_nodes TEXT,
  current_node_id TEXT,
  -- JSON: the request to pause the run.
  pause_request TEXT,
  paused_at INTEGER,
  -- JSON: the request to cancel the run.
  cancel_request TEXT,
  -- The conversation that the run is a turn of.
  conversation TEXT,
  usage TEXT,
  -- The run reads the workspace files of one revision until it ends.
  files_revision INTEGER,
  -- The source of a fork that may still read its log.
  fork_source TEXT,
  -- The run that started this one as its child.
  parent_run_id TEXT,
  parent_node_id TEXT,
  -- JSON. Null for a run of an engine that does not compensate.
  compensation TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_active ON runs (scope_id) WHERE scope_id IS NOT NULL AND status NOT IN ('completed', 'failed', 'cancelled');
CREATE UNIQUE INDEX runs_by_parent ON runs (parent_run_id, parent_node_id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX runs_ended ON runs (completed_at) WHERE status IN ('completed', 'failed', 'cancelled');
CREATE INDEX runs_files_revisions ON runs (tenant, mode, coalesce(workspace, ''), files_revision)
  WHERE files_revision IS NOT NULL;
CREATE INDEX runs_forking ON runs (fork_source)
  WHERE fork_source IS NOT NULL AND status NOT IN ('completed', 'failed', 'cancelled');
CREATE INDEX runs_in ON runs (tenant, mode, workspace, run_id);
CREATE INDEX runs_of ON runs (tenant, mode, run_id);
CREATE INDEX runs_of_conversation ON runs (tenant, mode, conversation, run_id) WHERE conversation IS NOT NULL;
CREATE INDEX runs_open_children ON runs (run_id, parent_run_id)
  WHERE parent_run_id IS NOT NULL AND status NOT IN ('completed', 'failed', 'cancelled', 'cancelling');
CREATE INDEX runs_unfinished ON runs (run_id) WHERE status IN ('pending', 'running', 'cancelling');
CREATE INDEX runs_waiting_external ON runs (run_id) WHERE status = 'waiting-external';

CREATE TABLE removed_runs (run_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

-- The position of an event is its place in the order of the commits.
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
  position INTEGER,
  PRIMARY KEY (run_id, sequence)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX events_by_position ON events (position) WHERE position IS NOT NULL;

CREATE TABLE removed_positions (
  tenant TEXT NOT NULL,
  mode TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (tenant, mode)
) STRICT, WITHOUT ROWID;

CREATE TABLE interrupts (
  run_id TEXT NOT NULL,
  interrupt_id TEXT NOT NULL,
  node_id TEXT NOT NULL,
  key TEXT NOT NULL,
  document TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'resolved', 'closed')),
  -- The next time at which the timer of a pending interrupt acts.
  due_at INTEGER,
  votes TEXT NOT NULL,
  resolution TEXT,
  PRIMARY KEY (run_id, interrupt_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX interrupts_due ON interrupts (due_at) WHERE due_at IS NOT NULL;
CREATE UNIQUE INDEX interrupts_keys ON interrupts (run_id, node_id, key);

CREATE TABLE artifacts (
  run_id TEXT NOT NULL,
  artifact_id TEXT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (run_id, artifact_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE annotations (
  run_id TEXT NOT NULL,
  annotation_id TEXT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (run_id, annotation_id)
) STRICT, WITHOUT ROWID;

-- The result of an effect is apart from its other facts, so that the ledger of a run is read without results.
CREATE TABLE effects (
  effect_id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  facts TEXT NOT NULL,
  result TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX effects_at ON effects (at);

CREATE TABLE effect_uses (
  run_id TEXT NOT NULL,
  effect_id TEXT NOT NULL REFERENCES effects (effect_id) ON DELETE CASCADE,
  node_id TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (run_id, effect_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX effect_uses_of ON effect_uses (effect_id);
`;
