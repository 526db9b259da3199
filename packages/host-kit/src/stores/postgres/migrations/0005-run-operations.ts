/** Pause and cancel requests of runs, and indexes for the lists of runs. */
export const runOperations = `
ALTER TABLE runs
  ADD COLUMN scope_id text,
  -- JSON: the nodes that are under way.
  ADD COLUMN open_nodes text,
  ADD COLUMN current_node_id text,
  -- JSON: what somebody asked for, and when.
  ADD COLUMN pause_request text,
  ADD COLUMN paused_at bigint,
  ADD COLUMN cancel_request text;

DROP INDEX runs_unfinished;
CREATE INDEX runs_unfinished ON runs (run_id) WHERE status IN ('pending', 'running', 'cancelling');

CREATE INDEX runs_of ON runs (tenant, mode, run_id);
CREATE INDEX runs_in ON runs (tenant, mode, workspace, run_id);
CREATE INDEX runs_active ON runs (scope_id) WHERE scope_id IS NOT NULL AND status NOT IN ('completed', 'failed', 'cancelled');
`;
